import type { VNode } from 'preact'
import { indentJson, sizeText } from '../model/index.js'

/** Characters that show at once. */
const most = 16_000

export const isLong = (json: string): boolean => json.length > most

export interface ArgumentsProps {
  readonly json: string
  /** Whether all of it is to show, however long it is. */
  readonly isWhole: boolean
  readonly showAll: () => void
}

/** JSON as it was sent, on many lines. What is long shows whole when that is asked for. */
export function Arguments({ json, isWhole, showAll }: ArgumentsProps): VNode {
  if (isWhole || !isLong(json)) {
    return (
      <pre class="exact" dir="ltr">
        {indentJson(json)}
      </pre>
    )
  }
  return (
    <>
      <pre class="exact" dir="ltr">
        {indentJson(json.slice(0, most))}…
      </pre>
      <button type="button" class="link" onClick={showAll}>
        Show all of it: {sizeText(json.length)}
      </button>
    </>
  )
}
