import { setTimeout as pause } from 'node:timers/promises'
import type { BatchEnd } from '@meup/views'
import { closedError, LogError } from '../../log/error.js'
import type { Projection, ProjectionOptions } from '../../ports/projection.js'
import { inTurn } from '../../projection/in-turn.js'
import type { ProjectionCalls, ReaderCalls } from './calls.js'
import type { Channel } from './channel.js'
import type { ProjectedLog } from './projected-log.js'

interface ProjectionThreads {
  readonly writer: Channel<ProjectionCalls>
  readonly reader: Channel<ReaderCalls>
}

/** Opens the turns and steps of one log. One thread folds the log into tables, another reads them. */
export async function openSqliteProjection(
  { writer, reader }: ProjectionThreads,
  log: ProjectedLog,
  { safety, repaired = () => {} }: ProjectionOptions,
): Promise<Projection> {
  const { space } = log
  let seq = await writer.call('open', [log, safety])
  let closed = false
  const inOrder = inTurn()
  /** What ended in calls that failed before they could tell. */
  const untold: BatchEnd[] = []
  /** Everything is being made again, so far up to `seq`: nobody is shown a part of it, even where that has failed half-way. */
  let making: { isCleared: boolean; seq: number } | undefined
  /** How often that was begun. */
  let remade = 0
  /** What a reader has asked for. */
  let asked: Promise<void> | undefined

  const refuseIfClosed = () => {
    if (closed) throw closedError('projection')
  }
  const step = async (through: number) => {
    refuseIfClosed()
    const advanced = await writer.call('advance', [space, through])
    for (const each of advanced.damaged)
      repaired(`the snapshot at seq ${each} is damaged: the log is read again`)
    return advanced
  }
  /** Goes on from where it was left. What ends on the way has been told before. */
  const finish = async (): Promise<void> => {
    const unfinished = making
    if (unfinished === undefined) return
    while (!unfinished.isCleared) {
      refuseIfClosed()
      unfinished.isCleared = await writer.call('clear', [space])
    }
    while (unfinished.seq < seq) unfinished.seq = (await step(seq)).seq
    making = undefined
  }
  const remake = (): Promise<void> => {
    remade++
    making = { isCleared: false, seq: 0 }
    return finish()
  }
  /** What proves damaged is made again, and tried once more. */
  const write = <Result>(task: () => Promise<Result>): Promise<Result> =>
    inOrder(async () => {
      refuseIfClosed()
      try {
        await finish()
        return await task()
      } catch (error) {
        repaired(reasonIn(error))
        await remake()
        return task()
      }
    })
  const repair = (reason: string): Promise<void> => {
    asked ??= inOrder(() => {
      repaired(reason)
      return remake()
    }).finally(() => {
      asked = undefined
    })
    return asked
  }
  const read = async <Result>(task: () => Promise<Result>, isRepaired = false): Promise<Result> => {
    refuseIfClosed()
    while (making !== undefined) await write(finish)
    const before = remade
    try {
      const answer = await task()
      if (remade === before) return answer
    } catch (error) {
      if (isRepaired) throw error
      await repair(reasonIn(error))
      return read(task, true)
    }
    return read(task, isRepaired) // It saw only what had been made again by then.
  }

  return {
    get seq() {
      return making?.seq ?? seq
    },
    advance: (through) =>
      write(async () => {
        while (seq < through) {
          const advanced = await step(through)
          seq = Math.max(seq, advanced.seq)
          untold.push(...advanced.ends)
        }
        return untold.splice(0)
      }),
    ends: (range) => read(() => reader.call('ends', [log, range])),
    turns: (query) => read(() => reader.call('turns', [log, query])),
    steps: (query) => read(() => reader.call('steps', [log, query])),
    trail: (query) => read(() => reader.call('trail', [log, query])),
    stepsOf: (turn, range) => read(() => reader.call('stepsOf', [log, turn, range])),
    older: (before) => read(() => reader.call('older', [log, before])),
    configure: (safety) => writer.call('configure', [space, safety]),
    keep: (through) =>
      write(async () => {
        while (!(await writer.call('keep', [space, through]))) refuseIfClosed()
      }),
    async prune(before) {
      for (let steps = 0; ; ) {
        let begin = 0
        // Readers and followers of the log come between two slices.
        const removed = await write(() => {
          begin = performance.now()
          return writer.call('prune', [space, before])
        })
        steps += removed.steps
        if (removed.isDone) return steps
        // Appends wait for the file meanwhile.
        await pause(Math.max(5, 3 * (performance.now() - begin)))
      }
    },
    rebuild: () => write(remake),
    close() {
      closed = true
      return inOrder(() => writer.call('release', [space]))
    },
  }
}

/** Why everything has to be made again; throws what has other reasons. */
function reasonIn(error: unknown): string {
  if (error instanceof LogError && error.code === 'projection') return error.message
  throw error
}
