export { type Replayed, type ReplayOptions, replayTurn } from './replay.js'
export {
  type EntryFilter,
  type FileVerdict,
  type KeptEntry,
  TranscriptFile,
  type TranscriptFileOptions,
} from './transcript-file.js'
