import type { VNode } from 'preact'
import { type Completion, completeName } from '../../model/index.js'
import { Avatar } from '../shared/parts.js'
import type { Command } from './commands.js'

/** A completion of a name or command. */
export interface CompletionItem {
  readonly key: string
  /** Text that replaces the typed one. */
  readonly insert: string
  readonly label: string
  readonly about: string
  /** Id of the participant, if the item is a name. */
  readonly person?: string
}

interface CompletionsProps {
  readonly items: readonly CompletionItem[]
  /** Index of the item that Enter selects. */
  readonly chosen: number
  readonly complete: (item: CompletionItem) => void
}

/** List of completions; the focus stays in the text field. */
export const Completions = ({ items, chosen, complete }: CompletionsProps): VNode => (
  <div class="completions" id="completions" role="listbox" aria-label="Completions">
    {items.map((item, at) => (
      <div
        key={item.key}
        id={`completion-${at}`}
        role="option"
        aria-selected={at === chosen}
        tabIndex={-1}
        ref={at === chosen ? (row) => row?.scrollIntoView({ block: 'nearest' }) : null}
        onMouseDown={(event) => {
          event.preventDefault()
          complete(item)
        }}
      >
        {item.person !== undefined && <Avatar id={item.person} kind="small" />}
        <b>{item.label}</b>
        <span class="dim">{item.about}</span>
      </div>
    ))}
  </div>
)

/** Completions of the name or command at the caret. */
export function completionItems(
  { sign, query }: Completion,
  people: Parameters<typeof completeName>[1],
  me: string | undefined,
  commands: readonly Command[],
): readonly CompletionItem[] {
  if (sign === '/')
    return commands
      .filter(({ name }) => name.startsWith(query))
      .map(({ name, takes, about }) => ({ key: name, insert: `/${name}`, label: `/${name} ${takes}`, about }))
  return completeName(
    query,
    people.filter(({ id }) => id !== me),
  ).map(({ id, role, isPresent }) => ({
    key: id,
    insert: `@${id}`,
    label: id,
    person: id,
    about: isPresent ? role : `${role}, away`,
  }))
}
