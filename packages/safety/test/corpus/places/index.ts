import { config } from './config.js'
import { languages } from './languages.js'
import type { Place } from './place.js'
import { speech } from './speech.js'

/** Where agents come across secrets, and how they write them there. */
export const places: readonly Place[] = [...config, ...languages, ...speech]
