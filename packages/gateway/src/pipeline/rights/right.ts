import type { Admission, Passage, Refusal } from '../passage.js'

/** What a participant with the capability for an envelope may still not do; `undefined` = it may. */
export type Right = (passage: Passage, space: Admission) => Refusal | undefined

export const forbidden = (message: string): Refusal => ({ code: 'forbidden', message })
