import type { VNode } from 'preact'
import type { CallSummary } from '../../model/index.js'

interface WhatProps {
  readonly summary: CallSummary
  readonly tool: string
  readonly isBrief?: boolean
}

/** A call in a few words: `Edit sum.js +1 −1`. */
export const What = ({ summary, tool, isBrief = false }: WhatProps): VNode => {
  const { verb, object, added = 0, removed = 0 } = summary
  return (
    <>
      {verb === undefined ? <code class="tool">{tool}</code> : <b class="tool">{verb}</b>}
      {object !== '' && !isBrief && <code class="parameters">{object}</code>}
      {added > 0 && <span class="good">+{added}</span>}
      {removed > 0 && <span class="bad">−{removed}</span>}
    </>
  )
}
