import type { MayRead } from '@meup/views'
import { mayRead, type Reader } from '../space/may-read.js'
import type { Source } from './backfill.js'

/** What a reader may read of a view: of each part, whether it may read the envelope that it was made of [MEUP-8.1]. */
export const readingOf =
  (reader: Reader, source: Pick<Source, 'audienceOf'>): MayRead =>
  (said) =>
    mayRead(reader, source.audienceOf(said))
