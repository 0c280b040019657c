import type { VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { questionText, whenText } from '../model/index.js'
import { Dialog } from './shared/dialog.js'
import { type SpaceActions, useSpace } from './shared/use-space.js'
import { type ViewName, viewNames, views } from './view-tabs.js'
import { commands } from './write/commands.js'
import { type CompletionItem, Completions } from './write/completions.js'
import '../style/dialogs.css'

/** An entry of the palette: a place to go to, or a command. */
interface Target extends Omit<CompletionItem, 'insert'> {
  go(): void
}

/** Maximum number of entries shown, and of questions searched. */
const [maxShown, maxQuestions] = [12, 500]

interface PageActions {
  readonly turn: (view: ViewName) => void
  readonly toSearch: () => void
  readonly openDialog: (dialog: 'settings' | 'help') => void
}

interface PaletteProps extends PageActions {
  readonly close: () => void
}

/** A dialog that finds a participant, run, question, view or command by a few letters. */
export function Palette({ close, ...page }: PaletteProps): VNode {
  const space = useSpace()
  const [sought, setSought] = useState('')
  const [chosen, choose] = useState(0)
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.focus(), [])
  const words = sought.toLowerCase().split(/\s+/).filter(Boolean)
  const all = [...listPlaces(page, space), ...listTargets(space)]
  const found = all.filter((each) => matches(each, words)).slice(0, maxShown)
  const go = (key: string): void => {
    const target = found.find((each) => each.key === key)
    if (target === undefined) return
    // Closes the dialog first: it restores the focus, which the target may then move.
    field.current?.closest('dialog')?.close()
    target.go()
  }
  return (
    <Dialog label="Go to" kind="palette" close={close}>
      <input
        ref={field}
        role="combobox"
        aria-label="Go to"
        aria-expanded={true}
        aria-controls="completions"
        aria-activedescendant={found.length > 0 ? `completion-${chosen}` : undefined}
        placeholder="A name, a question, a view, a command…"
        spellcheck={false}
        autocomplete="off"
        value={sought}
        onInput={(event) => {
          setSought(event.currentTarget.value)
          choose(0)
        }}
        onKeyDown={(event) => {
          const by = { ArrowDown: 1, ArrowUp: -1 }[event.key]
          if (by !== undefined && found.length > 0) choose((chosen + by + found.length) % found.length)
          else if (event.key === 'Enter') go(found[chosen]?.key ?? '')
          else return
          event.preventDefault()
        }}
      />
      <Completions
        items={found.map((each) => ({ ...each, insert: '' }))}
        chosen={chosen}
        complete={({ key }) => go(key)}
      />
      <p class="dim" role="status">
        {found.length === 0 && 'Nothing has this name.'}
      </p>
    </Dialog>
  )
}

const matches = ({ label, about }: Target, words: readonly string[]): boolean => {
  const text = `${label} ${about}`.toLowerCase()
  return words.every((word) => text.includes(word))
}

/** Entries for views and functions of the page. */
const listPlaces = (
  { turn, toSearch, openDialog }: PageActions,
  { showPanel }: SpaceActions,
): readonly Target[] => [
  ...viewNames.map((name) => ({
    ...{ key: `view ${name}`, label: name, about: views[name].title },
    go: () => turn(name),
  })),
  {
    ...{ key: 'inbox', label: 'inbox', about: 'what waits for a decision' },
    go: () => showPanel({ at: 'inbox' }),
  },
  { ...{ key: 'search', label: 'search', about: 'the whole log' }, go: toSearch },
  { ...{ key: 'settings', label: 'settings', about: 'of this browser' }, go: () => openDialog('settings') },
  { ...{ key: 'keys', label: 'keys', about: 'what single letters do' }, go: () => openDialog('help') },
]

/** Entries of the space: participants, open runs, commands, and questions, newest first. */
function listTargets({ session, showPanel, inspect, composer }: SpaceActions): readonly Target[] {
  const { model } = session
  const people = model.people.map(({ id, role, isPresent }) => ({
    ...{ key: `person ${id}`, label: id, person: id, about: isPresent ? role : `${role}, away` },
    go: () => showPanel({ at: 'person' as const, id }),
  }))
  const runs = model.runs().map(({ context, owner }) => {
    const start = model.log.get(context)
    const about = start === undefined ? 'goes on' : `goes on: ${questionText(start)}`
    return {
      key: `run ${context}`,
      label: `run of ${owner}`,
      person: owner,
      about,
      go: () => inspect(context),
    }
  })
  const own = commands.map(({ name, takes, about }) => ({
    ...{ key: `/${name}`, label: `/${name} ${takes}`, about },
    go: () => composer.current?.write(`/${name}${takes === '' ? '' : ' '}`),
  }))
  const questions = model.lists.stream.slots
    .filter(({ type, origin, envelope }) => type === 'message' && origin === envelope.id)
    .slice(-maxQuestions)
    .reverse()
    .map(({ key, envelope }) => ({
      ...{
        key: `question ${key}`,
        label: questionText(envelope),
        about: `${envelope.from}, ${whenText(envelope.ts)}`,
      },
      go: () => inspect(envelope.id),
    }))
  return [...runs, ...people, ...own, ...questions]
}
