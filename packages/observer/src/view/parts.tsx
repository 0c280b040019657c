import type { ComponentChildren, VNode } from 'preact'
import { bucketOf, clockText } from '../model/index.js'

/** The name of a participant, always in the same colour. */
export const Name = ({ id }: { id: string }): VNode => (
  <bdi class="name" style={{ '--hue': bucketOf(id, 360) }} title={id}>
    {id}
  </bdi>
)

export const Time = ({ ts }: { ts: string }): VNode => (
  <time class="time" dateTime={ts} title={ts}>
    {clockText(ts)}
  </time>
)

/** Text from others. It is never anything but text, and its direction is its own affair. */
export const Said = ({ text, kind = '' }: { text: string; kind?: string }): VNode => (
  <span class={`said ${kind}`} dir="auto">
    {text}
  </span>
)

export const Chip = ({ children, kind = '' }: { children: ComponentChildren; kind?: string }): VNode => (
  <span class={`chip ${kind}`}>{children}</span>
)
