import { omitUndefined } from '@meup/protocol'
import type { OperatorLog, OutputLine } from '../lib/logger.js'

/** A line of a program's output, or about an event of the program. */
export interface LogLine {
  /** Sequence number across all programs, from 1. */
  readonly seq: number
  /** Time of the line, RFC 3339. */
  readonly time: string
  readonly space?: string
  readonly participant: string
  readonly stream: OutputLine['stream'] | 'event'
  readonly text: string
}

interface LogQuery {
  /** Selects lines; default: the lines of all programs. */
  readonly isMeant?: (line: LogLine) => boolean
  /** Selects lines with a higher seq. */
  readonly after?: number
  /** Selects this many of the last lines; default: all. */
  readonly tail?: number
}

/** Maximum lines and characters that are kept per program, and maximum characters of a line. */
const [maxLines, maxChars, maxLineChars] = [2000, 512 * 1024, 8192]

interface Kept {
  readonly lines: LogLine[]
  chars: number
}

/** Recent output and events of each program, for `meup logs`. */
export class ProgramLogs {
  readonly #now: () => number
  readonly #kept = new Map<string, Kept>()
  readonly #waiting = new Set<() => void>()
  #seq = 0

  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  /** Wraps a logger, so that its lines are also recorded for `meup logs`. */
  tee(log: OperatorLog): OperatorLog {
    return {
      ...log,
      output: (line) => {
        this.#add(line)
        log.output(line)
      },
      program: (level, fields, message) => {
        const { participant } = fields as { readonly participant?: unknown }
        if (typeof participant === 'string') this.#add({ participant, stream: 'event', text: message })
        log.program(level, fields, message)
      },
    }
  }

  /** Returns matching lines in order of arrival. */
  read({ isMeant = () => true, after = 0, tail = Number.POSITIVE_INFINITY }: LogQuery = {}): LogLine[] {
    const lines = [...this.#kept.values()]
      .flatMap(({ lines }) => lines)
      .filter((line) => line.seq > after && isMeant(line))
    return lines.sort((one, other) => one.seq - other.seq).slice(-tail)
  }

  /** Resolves when a line is added, or after `timeoutMs`. */
  whenGrown(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer)
        this.#waiting.delete(done)
        resolve()
      }
      const timer = setTimeout(done, timeoutMs).unref()
      this.#waiting.add(done)
    })
  }

  #add(line: Pick<LogLine, 'participant' | 'space' | 'stream' | 'text'>): void {
    const { space, participant, stream } = line
    const text = line.text.slice(0, maxLineChars)
    const kept = this.#kept.get(participant) ?? { lines: [], chars: 0 }
    this.#kept.set(participant, kept)
    const time = new Date(this.#now()).toISOString()
    kept.lines.push({
      seq: ++this.#seq,
      time,
      ...omitUndefined({ space }),
      participant,
      stream,
      text,
    })
    kept.chars += text.length
    while (kept.lines.length > maxLines || kept.chars > maxChars)
      kept.chars -= kept.lines.shift()?.text.length ?? kept.chars
    for (const done of [...this.#waiting]) done()
  }
}
