import { setImmediate as nextTurn } from 'node:timers/promises'
import { getErrorMessage, stringifyExact } from '@meup/protocol'
import {
  ProtocolError,
  ProtocolErrorCode,
  SdkError,
  SdkErrorCode,
  STDIO_DEFAULT_MAX_BUFFER_SIZE,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client'
import { readLines, settlesWithin } from '../child/lines.js'
import type { ChildExit } from '../child/messages.js'
import { type SupervisedChild, spawnChild } from '../child/spawn-child.js'
import type { DroppedText } from '../child/text-buffer.js'
import { programError } from '../errors.js'
import { restoreNumbers } from '../exact-numbers.js'
import { createTooLong, readDropped } from './dropped-message.js'
import { describeRelayFailure } from './failures.js'
import { readMessages } from './read-message.js'
import {
  type McpRelay,
  openRelay,
  type RelayHandlers,
  type RelayTransport,
  type ServerOptions,
} from './relay.js'

export interface CommandServerOptions extends ServerOptions {
  readonly command: string
  readonly args?: readonly string[]
  /** The complete environment of the server; variables of this process are not inherited. */
  readonly env: Readonly<Record<string, string>>
  readonly cwd?: string
}

/** Milliseconds for the start of a server. The first start of `npx`, `uvx` or `docker run` may download it. */
const START_TIMEOUT_MS = 120_000
const STDERR_LIMIT = { maxBytes: 64 * 1024, longer: 'split', isPaced: true } as const
/** Number of stderr lines in the error of a failed start, and maximum characters of each line. */
const [lastLines, maxLastLineChars] = [5, 200]
/** Matches lines that name no cause: blank ones, and those of a stack. */
const isNoise = /^\s*(?:at .*|\^+)?$|^Node\.js v/

/** Starts a server as a child process. Rejects with `ProgramError`. */
export async function startCommandServer(
  options: CommandServerOptions,
  handlers: RelayHandlers = {},
): Promise<McpRelay> {
  try {
    return await launch(options, 'legacy', handlers)
  } catch (error) {
    if (!lacksInitialize(error) || options.signal?.aborted) throw error
  }
  return launch(options, 'auto', handlers)
}

async function launch(
  options: CommandServerOptions,
  mode: VersionNegotiationMode,
  handlers: RelayHandlers,
): Promise<McpRelay> {
  const { name, command, args = [], env, cwd = '.', startTimeoutMs = START_TIMEOUT_MS, signal } = options
  const log = (line: string) => options.log?.(line)
  const child = await spawnChild({ command, args, env, cwd })
  const giveUp = () => {
    child
      .close({ stdinGraceMs: 0, termGraceMs: EXIT_MS })
      .catch((error: unknown) => log(getErrorMessage(error)))
  }
  if (signal?.aborted) giveUp()
  signal?.addEventListener('abort', giveUp)
  const stderr: string[] = []
  const stderrRead = readStderr(child, (line) => {
    if (!isNoise.test(line)) stderr.push(line.slice(0, maxLastLineChars))
    if (stderr.length > lastLines) stderr.shift()
    log(line)
  }).catch((error: unknown) => log(`stderr could not be read: ${getErrorMessage(error)}`))
  const transport = childTransport(child)
  try {
    const { callMs } = options
    const how = { name, transport, mode, startTimeoutMs, callMs, signal, ...handlers, onWarning: log }
    return await openRelay(how)
  } catch (error) {
    await child.close()
    const end = isClosed(error) ? (await transport.ended).reason : describeRelayFailure(error)
    const reason = signal?.aborted ? 'was given up' : end
    await settlesWithin(stderrRead, LAST_OUTPUT_MS)
    const said = stderr.length > 0 ? `. Its last lines on stderr: ${stderr.join(' | ')}` : ''
    throw programError('not_started', { name, reason: `${reason}${said}` }, { cause: error })
  } finally {
    signal?.removeEventListener('abort', giveUp)
  }
}

async function readStderr({ stderr }: SupervisedChild, onLine: (line: string) => void): Promise<void> {
  if (stderr !== null) for await (const line of readLines(stderr, STDERR_LIMIT)) onLine(line)
}

/** Whether the error shows that the server only supports revision 2026-07-28 or later. */
function lacksInitialize(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  const codes: number[] = [ProtocolErrorCode.UnsupportedProtocolVersion, ProtocolErrorCode.MethodNotFound]
  return cause instanceof ProtocolError && codes.includes(cause.code)
}

function isClosed(error: unknown): boolean {
  return error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed
}

/** Milliseconds to wait for remaining output after the processes have exited. */
const LAST_OUTPUT_MS = 1000
/** Milliseconds to wait for the exit of a command that has closed a pipe. */
const EXIT_MS = 500
const MAX_MESSAGE_BYTES = STDIO_DEFAULT_MAX_BUFFER_SIZE
/** Maximum bytes buffered for a server that does not read its stdin. */
const MAX_UNREAD_BYTES = 2 * MAX_MESSAGE_BYTES

/**
 * An MCP transport over the pipes of a child process. Unlike that of the SDK, it does not validate messages, so they keep
 * unknown members. Invalid lines are passed to `onfault`.
 */
function childTransport(child: SupervisedChild): RelayTransport {
  const { stdin, stdout } = child
  if (!stdin || !stdout) throw new Error('an MCP server needs pipes for its stdin and stdout')
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  let end = (_reason: string) => {}
  const lost = new Promise<string>((resolve) => {
    end = resolve
  })

  let isReplaced = false
  const deliver = (line: string) => {
    const how = { isReplaced }
    isReplaced = false
    if (line.trim() === '') return
    for (const reading of readMessages(line, how)) {
      if ('message' in reading) transport.onmessage?.(reading.message)
      else transport.onfault?.(reading.fault)
    }
  }
  const readAll = async (): Promise<string> => {
    const limit = {
      maxBytes: MAX_MESSAGE_BYTES,
      longer: 'drop',
      isPaced: true,
      onTooLong: (head: string) => transport.onfault?.(createTooLong(head, MAX_MESSAGE_BYTES)),
      onReplaced: () => {
        isReplaced = true
      },
      onDropped: (line: DroppedText) => {
        transport.onfault?.(readDropped(line, MAX_MESSAGE_BYTES))
        return undefined
      },
    } as const
    try {
      for await (const line of readLines(stdout, limit)) deliver(line)
      return 'closed its stdout'
    } catch (error) {
      return `could not be read: ${getErrorMessage(error)}`
    }
  }
  const finish = async () => {
    const reading = readAll()
    const reason = await Promise.race([reading, lost, waitForOutput(child, reading)])
    // A server that has closed a pipe cannot answer calls, even if its process is still running.
    const isGone = reason === undefined || (await settlesWithin(child.commandExited, EXIT_MS))
    const exit = await child.close(isGone ? {} : { stdinGraceMs: 0 })
    if (reason !== undefined) await settlesWithin(reading, LAST_OUTPUT_MS) // Remaining output may answer a call.
    transport.onclose?.()
    return { reason: isGone ? describeExit(exit) : String(reason) }
  }

  const transport: RelayTransport = {
    ended: opened
      .then(finish)
      .catch((error: unknown) => ({ reason: `could not be stopped: ${getErrorMessage(error)}` })),
    start: async () => open(),
    send: (message) =>
      new Promise((resolve, reject) => {
        if (stdin.writableLength > MAX_UNREAD_BYTES)
          return reject(new Error(`has not read ${stdin.writableLength} bytes that it was sent before`))
        stdin.write(`${restoreNumbers(stringifyExact(message))}\n`, (error) => {
          if (!error) return resolve()
          // The server cannot receive calls, so the transport ends. The error names how the server exited, which explains more
          // than a broken pipe.
          end('closed its stdin')
          transport.ended.then(({ reason }) => reject(new Error(reason, { cause: error })), reject)
        })
      }),
    close: async () => void (await child.close()),
  }
  return transport
}

/** Resolves when a server has ended, even if a process that could not be stopped keeps its output open. */
async function waitForOutput(child: SupervisedChild, reading: Promise<unknown>): Promise<undefined> {
  await child.exited
  await settlesWithin(reading, LAST_OUTPUT_MS)
  // Output that was received while this process was busy is handled first.
  await nextTurn()
}

function describeExit({ code, signal }: ChildExit): string {
  return signal ? `was killed by ${signal}` : `exited with code ${code}`
}
