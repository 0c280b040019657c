import { type Envelope, Kind } from '@meup/protocol'
import type { VNode } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { MessageDraft } from '../../connect/storage.js'
import {
  type Completion,
  findCompletion,
  findNames,
  type NamedPart,
  readCommand,
  unknownName,
} from '../../model/index.js'
import { lazy, lazyHook } from '../shared/lazy.js'
import { Icon, Options } from '../shared/parts.js'
import { useSetting } from '../shared/settings.js'
import { useSpace } from '../shared/use-space.js'
import { Addressees, maxListed } from './addressees.js'
import { toCancel } from './cancel-message.js'
import { type CompletionItem, Completions, completionItems } from './completions.js'
import { DraftNote, Replied } from './notes.js'
import { useDraft } from './use-draft.js'
import { useOwnRuns } from './use-own-runs.js'

const levels = [
  ['', 'think as set'],
  ['off', 'think: off'],
  ['low', 'think: low'],
  ['high', 'think: high'],
] as const
type Level = (typeof levels)[number][0]

const loadCommands = () => import('./commands.js')
const BoxStatus = lazy(() => import('./box-status.js').then(({ BoxStatus }) => BoxStatus))
const useCommands = lazyHook(loadCommands, 'the commands are not known:')

/** Interval of typing notifications [MEUP-3.32]. */
const typingMs = 3000

/** The message box: to everyone, optionally with mentions, or to one participant. */
export function MessageBox({ help }: { help: () => void }): VNode {
  const space = useSpace()
  const { session, isLive, can, composer } = space
  const box = useRef<HTMLTextAreaElement>(null)
  const [text, setText] = useDraft(session.place.space)
  /** Id of the only reader; `''` for everyone. */
  const [to, setTo] = useState('')
  const [level, setLevel] = useState<Level>('')
  const [typed, setTyped] = useState<Completion | undefined>()
  const [chosen, choose] = useState(0)
  const [problem, setProblem] = useState('')
  /** The message that the draft replies to. */
  const [replied, setReplied] = useState<Envelope | undefined>()
  const { runs, isStopping, stop } = useOwnRuns()
  const entersSend = useSetting('enter') === 'on'
  const { people } = session.model
  const me = session.welcome?.you.id
  const known = useKnown(people)
  const names = findNames(text, known)
  const message = text.trim()
  const command = readCommand(message)
  const code = useCommands(text.startsWith('/'))
  const commands = code?.commands ?? []
  const named = [replied?.from, ...names.map(({ id }) => id)]
  const mention = [...new Set(named.flatMap((id) => (id === undefined || id === me ? [] : [id])))]
  const draft = toDraft(message.startsWith('//') ? message.slice(1) : message, to, mention, level, replied)
  const payload = { message: draft.message, ...(draft.mention && { mentions: draft.mention }) }
  const mayChat = can({ kind: Kind.chat, payload, ...(draft.to && { to: draft.to }) })
  const items = typed === undefined ? [] : completionItems(typed, people, me, commands)

  const stranger =
    command === undefined && items.length === 0 ? names.find(({ id }) => id === undefined) : undefined
  const unknown =
    stranger === undefined
      ? ''
      : unknownName(
          text.slice(stranger.start + 1, stranger.end),
          people.slice(0, maxListed).map(({ id }) => id),
        )

  const typingAt = useRef(0)
  const showTyping = (next: string): void => {
    const now = Date.now()
    if (next === '' || next.startsWith('/') || !mayChat || now < typingAt.current + typingMs) return
    typingAt.current = now
    session.client?.sendTyping(to === '' ? {} : { to: [to] })
  }
  const write = (next: string, caret = next.length): void => {
    setText(next)
    setProblem('')
    setTyped(findCompletion(next, caret))
    choose(0)
    showTyping(next)
  }
  const caret = useRef<number | undefined>(undefined)
  useLayoutEffect(() => {
    if (caret.current === undefined) return
    box.current?.setSelectionRange(caret.current, caret.current)
    caret.current = undefined
  }, [text])
  composer.current = {
    write(next) {
      write(next)
      box.current?.focus()
    },
    reply(envelope) {
      setReplied(envelope)
      setTo(envelope.to === undefined || envelope.from === me ? '' : envelope.from)
      box.current?.focus()
    },
  }
  useEffect(
    () => () => {
      composer.current = undefined
    },
    [composer],
  )
  const mentionOne = (): void => {
    write(text === '' || /\s$/.test(text) ? `${text}@` : `${text} @`)
    box.current?.focus()
  }
  const complete = ({ insert }: CompletionItem): void => {
    if (typed === undefined) return
    const end = typed.start + 1 + typed.query.length
    const rest = text.slice(end)
    const gap = rest.startsWith(' ') ? '' : ' '
    caret.current = typed.start + insert.length + 1
    setText(`${text.slice(0, typed.start)}${insert}${gap}${rest}`)
    setTyped(undefined)
    box.current?.focus()
  }
  const runCommand = async ({ name, argument }: NonNullable<typeof command>): Promise<void> => {
    // Cleared at once: the code of commands may still be loading while the reader types on.
    write('')
    const giveBack = (): void => {
      if (['', text].includes(box.current?.value ?? '')) write(text)
    }
    const load = (): ReturnType<typeof loadCommands> =>
      loadCommands().catch((error) => {
        giveBack()
        throw error
      })
    // If the code of commands is loaded, does not await it: the next message must not overtake the command.
    const { findCommand, describeUnknownCommand: unknownCommand } = code ?? (await load())
    const found = findCommand(name)
    const wrong =
      found === undefined
        ? unknownCommand(name)
        : found.run(argument, {
            ...{ space, stop, help },
            setLevel: (next) => setLevel(next as Level),
            sendPrivately: (whom, said) => session.outbox.send({ message: said, to: [whom] }),
          })
    if (typeof wrong !== 'string') return
    giveBack()
    setProblem(wrong)
  }
  const send = (): void => {
    if (message === '' || !isLive) return
    if (command !== undefined) {
      space.act('The commands could not be loaded', () => runCommand(command))
      return
    }
    if (!mayChat) return
    session.outbox.send(draft)
    setReplied(undefined)
    write('')
  }
  /** Puts the reader's last message back into the field; retracts it if it is unanswered. */
  const recall = (): void => {
    const { log } = session.model
    const last = log.envelopes.findLast(({ kind, from }) => kind === Kind.chat && from === me)
    if (last === undefined) return
    write(String(last.payload.message))
    const answers = log.answersTo(last.id).map((id) => log.get(id)?.kind)
    if (answers.includes(Kind.chat) || answers.includes(Kind.chatCancel)) return
    const cancel = toCancel(last)
    if (!can(cancel)) return
    setProblem('Taken back: change it, and send it again.')
    space.act('It was not taken back', async () => session.client?.send(cancel))
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.isComposing) return
    if (items.length > 0 && onListKey(event)) return
    const isSending = entersSend ? !event.shiftKey : event.ctrlKey || event.metaKey
    if (event.key === 'Enter' && isSending) {
      event.preventDefault()
      send()
    }
    if (event.key === 'ArrowUp' && text === '') {
      event.preventDefault()
      recall()
    }
    if (event.key === 'Escape' && replied !== undefined) {
      event.stopPropagation()
      setReplied(undefined)
    }
  }
  /** Handles keys of the completion list; returns `true` if the key was one. */
  const onListKey = (event: KeyboardEvent): boolean => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    const item = items[chosen]
    const isDone = typed?.sign === '/' && item?.key === typed.query && event.key === 'Enter'
    if (by !== undefined) choose((chosen + by + items.length) % items.length)
    else if (event.key === 'Escape') setTyped(undefined)
    else if (
      (event.key === 'Enter' || event.key === 'Tab') &&
      item !== undefined &&
      !isDone &&
      !event.shiftKey
    )
      complete(item)
    else return false
    event.preventDefault()
    event.stopPropagation()
    return true
  }

  const isPrivate = to !== ''
  const isStop = text === '' && runs.length > 0
  const sendLabel = isPrivate ? `Send to ${to} alone` : 'Send'
  return (
    <form
      aria-label="Write"
      class={`message-box ${isPrivate ? 'private' : ''}`}
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <BoxStatus />
      {items.length > 0 && <Completions items={items} chosen={chosen} complete={complete} />}
      {replied !== undefined && <Replied to={replied} drop={() => setReplied(undefined)} />}
      <div class="writing">
        <div class="mirror" aria-hidden="true" dir="auto">
          <Marked text={text} names={names} />
        </div>
        <textarea
          rows={1}
          ref={box}
          aria-label="Message"
          aria-autocomplete="list"
          {...(items.length > 0 && {
            'aria-controls': 'completions',
            'aria-activedescendant': `completion-${chosen}`,
          })}
          dir="auto"
          placeholder={getPlaceholder(session.time.isPast, mayChat || !isLive, to)}
          value={text}
          onInput={({ currentTarget }) => write(currentTarget.value, currentTarget.selectionStart)}
          onKeyDown={onKeyDown}
          onBlur={() => setTyped(undefined)}
        />
      </div>
      <div class="box-row">
        <button
          type="button"
          class="quiet at"
          title="Mention a participant"
          aria-label="Mention"
          onClick={mentionOne}
        >
          @
        </button>
        <Addressees to={to} choose={setTo} people={people} me={me} />
        <select
          aria-label="How much models think about it"
          value={level}
          onChange={(event) => setLevel(event.currentTarget.value as Level)}
        >
          <Options of={levels} />
        </select>
        <DraftNote mention={command === undefined ? mention : []} to={to} problem={problem || unknown} />
        {isStop ? (
          <button
            type="button"
            class="round stop bad"
            disabled={!isLive || isStopping}
            aria-label={isStopping ? 'Stopping…' : 'Stop'}
            title={isStopping ? 'Stopping…' : 'Stop what answers you'}
            onClick={stop}
          >
            <Icon sign="square" />
          </button>
        ) : (
          <button
            type="submit"
            class="round primary"
            disabled={!isLive || message === '' || (!mayChat && command === undefined)}
            aria-label={sendLabel}
            title={sendLabel}
          >
            <Icon sign="send" />
          </button>
        )}
      </div>
    </form>
  )
}

function getPlaceholder(isPast: boolean, mayChat: boolean, to: string): string {
  if (isPast) return 'This is the past: LIVE brings you back'
  if (!mayChat) return 'You may not chat here'
  return to === '' ? 'Message… @ mentions, / commands' : `Only ${to} reads this`
}

/** Builds the message. In a private one, mentions are limited to its readers. */
function toDraft(
  message: string,
  to: string,
  mention: readonly string[],
  level: Level,
  replied: Envelope | undefined,
): MessageDraft {
  const asked = to === '' ? mention : []
  return {
    message,
    ...(to !== '' && { to: [to] }),
    ...(asked.length > 0 && { mention: asked }),
    ...(level !== '' && { thinkingLevel: level }),
    ...(replied && { correlationId: replied.id }),
  }
}

/** The draft with highlighted mentions, drawn behind the text field, which cannot highlight. */
function Marked({ text, names }: { text: string; names: readonly NamedPart[] }): VNode {
  const known = names.filter(({ id }) => id !== undefined)
  return (
    <>
      {known.map(({ start, end }, at) => (
        <>
          {text.slice(known[at - 1]?.end ?? 0, start)}
          <mark>{text.slice(start, end)}</mark>
        </>
      ))}
      {text.slice(known.at(-1)?.end ?? 0)}{' '}
    </>
  )
}

/** Returns a function that checks if a participant has this name. */
function useKnown(people: readonly { readonly id: string }[]): (id: string) => boolean {
  const ids = useRef<{ readonly of: unknown; readonly set: ReadonlySet<string> }>({ of: [], set: new Set() })
  if (ids.current.of !== people) ids.current = { of: people, set: new Set(people.map(({ id }) => id)) }
  return (id) => ids.current.set.has(id)
}
