import { type MessagePort, parentPort } from 'node:worker_threads'
import type { LogError } from '../../log/error.js'
import type { Reply } from './calls.js'
import { asLogError } from './failure.js'

/** The worker's end of its channel. */
export function portOfThread(): MessagePort {
  if (parentPort === null) throw new Error('This file is the script of a worker: start it as one.')
  return parentPort
}

export function reply(id: number, perform: () => unknown): Reply {
  try {
    return { id, result: perform() }
  } catch (error) {
    return refusal(id, asLogError(error))
  }
}

/** The class of an error does not survive the way between threads: its code and message do. */
export function refusal(id: number, { code, message }: LogError): Reply {
  return { id, failure: { code, message } }
}
