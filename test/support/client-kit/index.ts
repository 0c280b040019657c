import { answering } from './answering.js'
import { connecting } from './connecting.js'
import { refusals } from './refusals.js'
import { resuming } from './resuming.js'

/** The cases that every client has to pass. */
export const kinds = [...connecting, ...answering, ...resuming, ...refusals]
