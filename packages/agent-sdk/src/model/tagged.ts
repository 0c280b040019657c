import { TagReader, type Told } from '../extract/tags/tag-reader.js'

/** Tells a model's text from what it thinks in tags, `<think>` and the like. */
export function answerIn(text: string): Told {
  const reader = new TagReader({ prefilled: false })
  reader.push(text)
  return reader.end()
}
