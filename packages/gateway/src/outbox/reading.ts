import type { MayRead } from '@meup/views'
import { mayRead, type Reader } from '../space/may-read.js'
import type { Source } from './backfill.js'

/** Told of what was looked at and is not shown, in characters: it has to be paid for as well [MEUP-7.8]. */
export type Passed = (characters: number) => void

/** Characters for a step that is not shown. */
export const charactersOfStep = 128

/** What a reader may read of a view: of each part, whether it may read the envelope that it was made of [MEUP-8.1]. */
export const readingOf =
  (reader: Reader, source: Pick<Source, 'audienceOf'>): MayRead =>
  (said) =>
    mayRead(reader, source.audienceOf(said))
