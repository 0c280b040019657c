import type { VNode } from 'preact'
import { Icon } from '../shared/parts.js'
import { useSpace } from '../shared/use-space.js'

/** The search field; `/` focuses it. */
export function FindBox(): VNode {
  const { session, showPanel } = useSpace()
  const { finder } = session
  return (
    <search class="find-box">
      <Icon sign="search" />
      <input
        name="query"
        type="search"
        aria-label="Search the space"
        placeholder="Search  /"
        maxLength={200}
        spellcheck={false}
        value={finder.sought.text}
        onFocus={() => showPanel({ at: 'find' })}
        onInput={(event) => {
          showPanel({ at: 'find' })
          finder.find({ ...finder.sought, text: event.currentTarget.value })
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter' || event.key === 'ArrowDown') {
            event.preventDefault()
            document.querySelector<HTMLElement>('.hits button')?.focus()
          } else if (event.key === 'Escape') {
            event.stopPropagation()
            event.currentTarget.blur()
            finder.find({ text: '' })
            showPanel(undefined)
          }
        }}
      />
    </search>
  )
}
