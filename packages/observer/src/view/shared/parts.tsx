import {
  Component,
  type ComponentChild,
  type ComponentChildren,
  type ComponentType,
  createElement,
  type VNode,
} from 'preact'
import { useContext, useEffect, useState } from 'preact/hooks'
import { clockText, dateText, hueOf, initialsOf } from '../../model/index.js'
import { SpaceContext } from './use-space.js'

/** Attributes of a name. Only agents have a colour of their own, which distinguishes them from people. */
function useColour(id: string, kind: string) {
  const role = useContext(SpaceContext)?.session.model.members.roleOf(id)
  return role === 'agent' ? { class: `${kind} agent`, style: { '--hue': hueOf(id) } } : { class: kind }
}

export const Name = ({ id }: { id: string }): VNode => (
  <bdi {...useColour(id, 'name')} title={id}>
    {id}
  </bdi>
)

/** Initials of a participant, next to its name. */
export const Avatar = ({ id, kind = '' }: { id: string; kind?: string }): VNode => (
  <span {...useColour(id, `avatar ${kind}`)} data-initials={initialsOf(id)} aria-hidden="true" />
)

export const Time = ({ ts }: { ts: string }): VNode => (
  <time class="time" dateTime={ts} title={dateText(ts)}>
    {clockText(ts)}
  </time>
)

/** Untrusted text, never interpreted as HTML. */
export const UntrustedText = ({ text, kind = '' }: { text: string; kind?: string }): VNode => (
  <span class={`said ${kind}`} dir="auto">
    {text}
  </span>
)

/** A sentence in which backticks mark code. */
export const Sentence = ({ text }: { text: string }): VNode => (
  <>{text.split('`').map((part, at) => (at % 2 === 0 ? part : <code key={at}>{part}</code>))}</>
)

export const Chip = ({ children, kind = '' }: { children: ComponentChildren; kind?: string }): VNode => (
  <span class={`chip ${kind}`}>{children}</span>
)

/** SVG paths of icons, 16 by 16: some fonts lack these characters. */
const shapes = {
  start: 'M3 3h2v10H3zM13 3v10L6 8z',
  play: 'M4 2.5v11L13 8z',
  stop: 'M4 3h3v10H4zM9 3h3v10H9z',
  settings:
    'M1.5 4h6v1.4h-6zM11 4h3.5v1.4H11zM8.3 2.5h1.9v4.4H8.3zM1.5 10.6H5V12H1.5zM8.5 10.6h6V12h-6zM5.800 9.1h1.9v4.4H5.800z',
  search:
    'M6.8 1.5a5.3 5.3 0 0 1 4.2 8.5l3.5 3.5-1 1L10 11a5.3 5.3 0 1 1-3.2-9.5zm0 1.4a3.9 3.9 0 1 0 0 7.8 3.9 3.9 0 0 0 0-7.8z',
  clock:
    'M8 1.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13zm0 1.4a5.1 5.1 0 1 0 0 10.2A5.1 5.1 0 0 0 8 2.9zM7.3 4.5h1.4v3.2l2.3 1.4-.7 1.2-3-1.8z',
  lock: 'M4 7V5a4 4 0 0 1 8 0v2h1v7H3V7zm1.5 0h5V5a2.5 2.5 0 0 0-5 0z',
  send: 'M8 2l5 5-1 1-3.3-3.2V14H7.3V4.8L4 8 3 7z',
  square: 'M4 4h8v8H4z',
} as const

type Sign = keyof typeof shapes

/** A decorative icon; the surrounding element has the label. */
export const Icon = ({ sign }: { sign: Sign }): VNode => (
  <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
    <path d={shapes[sign]} />
  </svg>
)

/** Button that scrolls to the newest row, with the number of new rows. */
export const Newer = ({ count, toEnd }: { count: number; toEnd: () => void }): VNode => (
  <button type="button" class="newer" onClick={toEnd}>
    ↓ {count > 0 ? `${count.toLocaleString('en')} new` : 'live'}
  </button>
)

/** Marks the end of a box. Some content can be approved only after this was visible, see `useSeenToEnd`. */
export const End = (): VNode => <i class="box-end" data-end />

export const Alert = ({ children }: { children: ComponentChildren }): VNode => (
  <p class="problem" role="alert">
    {children}
  </p>
)

/** Button that closes a panel, like Escape. */
export const CloseButton = ({ label = 'Close', close }: { label?: string; close: () => void }): VNode => (
  <button type="button" aria-label={label} title="Close (Escape)" onClick={close}>
    ✕
  </button>
)

interface CopyButtonProps {
  readonly text: string
  /** Names the copied text for screen readers. */
  readonly what: string
  readonly label?: string
}

/** Button that copies a text and confirms it. */
export function CopyButton({ text, what, label = 'copy' }: CopyButtonProps): VNode {
  const [state, setState] = useState<'idle' | 'copied' | 'refused'>('idle')
  useEffect(() => {
    if (state === 'idle') return
    const timer = setTimeout(() => setState('idle'), copiedMs)
    return () => clearTimeout(timer)
  }, [state])
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text)
      setState('copied')
    } catch (error) {
      console.info('not copied:', error)
      setState('refused')
    }
  }
  return (
    <button type="button" class="link copy" aria-label={`Copy ${what}`} onClick={() => void copy()}>
      {state === 'idle' ? label : copyLabels[state]}
    </button>
  )
}

/** Time for which the button shows the result. */
const copiedMs = 1500
const copyLabels = {
  copied: 'copied ✓',
  refused: 'the browser does not let it be copied',
} as const

export type SelectOption = readonly [value: string | number, text: string]

export const Options = ({ of }: { of: readonly SelectOption[] }): VNode => (
  <>
    {of.map(([value, text]) => (
      <option key={value} value={value}>
        {text}
      </option>
    ))}
  </>
)

interface CheckboxProps {
  readonly checked: boolean
  readonly disabled?: boolean
  readonly set: (checked: boolean) => void
  readonly children: ComponentChildren
}

export const Checkbox = ({ checked, disabled = false, set, children }: CheckboxProps): VNode => (
  <label class="check">
    <input
      type="checkbox"
      checked={checked}
      disabled={disabled}
      onChange={(event) => set(event.currentTarget.checked)}
    />
    {children}
  </label>
)

interface SearchFieldProps {
  readonly label: string
  readonly placeholder?: string
  readonly value: string
  readonly set: (value: string) => void
}

/** A field that filters the list below it. */
export const SearchField = ({ label, placeholder = `${label}…`, value, set }: SearchFieldProps): VNode => (
  <input
    type="search"
    aria-label={label}
    placeholder={placeholder}
    spellcheck={false}
    value={value}
    onInput={(event) => set(event.currentTarget.value)}
  />
)

interface IconButtonProps {
  readonly sign: Sign
  readonly label: string
  readonly title?: string
  readonly disabled?: boolean
  readonly onClick: () => void
}

export const IconButton = ({
  sign,
  label,
  title = label,
  disabled = false,
  onClick,
}: IconButtonProps): VNode => (
  <button type="button" title={title} aria-label={label} disabled={disabled} onClick={onClick}>
    <Icon sign={sign} />
  </button>
)

/** Memoizes a component: it is redrawn only if a property has changed. */
export function memo<Props extends object>(Inner: ComponentType<Props>): ComponentType<Props> {
  return class Memo extends Component<Props> {
    override shouldComponentUpdate(next: Props): boolean {
      const now = this.props as Props
      return Object.keys({ ...now, ...next }).some(
        (name) => now[name as keyof Props] !== next[name as keyof Props],
      )
    }
    override render(): ComponentChild {
      return createElement(Inner, this.props as Props)
    }
  }
}
