import type { Refusal } from '../context.js'

/** `invalid_payload` for a time that is no time, or that has come; none at all is fine. `now` in milliseconds. */
export function notInFuture(path: string, time: string | undefined, now: number): Refusal | undefined {
  if (time === undefined || Date.parse(time) > now) return undefined
  const message = `${path} is no time in the future; it is ${new Date(now).toISOString()} here`
  return { code: 'invalid_payload', path, message }
}
