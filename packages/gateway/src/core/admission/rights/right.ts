import type { Envelope } from '@meup/protocol'
import type { Admission, AdmissionContext, Refusal } from '../context.js'

/** What a participant with the capability for an envelope may still not do; `undefined` = it may. */
export type Right = (admission: AdmissionContext, space: Admission) => Refusal | undefined

/** Whether somebody may send an envelope without a capability for it, because it is about what is its own. */
export type Exemption = (envelope: Envelope, space: Admission) => boolean

/** `path`: JSON pointer to the field that is in the way. */
export const forbidden = (message: string, path?: string): Refusal => ({
  code: 'forbidden',
  message,
  ...(path !== undefined && { path }),
})

export const setByGateway = (path: string): Refusal => ({
  code: 'invalid_payload',
  path,
  message: `${path} is set by the gateway. Leave it out.`,
})

/** `invalid_payload` for a time that is no time, or that has come; none at all is fine. `now` in milliseconds. */
export function notInFuture(path: string, time: string | undefined, now: number): Refusal | undefined {
  if (time === undefined || Date.parse(time) > now) return undefined
  const message = `${path} is no time in the future. It is ${new Date(now).toISOString()} here.`
  return { code: 'invalid_payload', path, message }
}
