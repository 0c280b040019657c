import type { VNode } from 'preact'

/** What the signs of buttons are drawn from, in a square of 16: not every font has them. */
const shapes = {
  start: 'M3 3h2v10H3zM13 3v10L6 8z',
  play: 'M4 2.5v11L13 8z',
  stop: 'M4 3h3v10H4zM9 3h3v10H9z',
  auto: 'M8 1.5a6.5 6.5 0 1 0 0 13zM8 1.5a6.5 6.5 0 0 1 0 13v-1.4a5.1 5.1 0 0 0 0-10.2z',
  light:
    'M8 4.6a3.4 3.4 0 1 1 0 6.8 3.4 3.4 0 0 1 0-6.8zM7.3.8h1.4v2.4H7.3zM7.3 12.8h1.4v2.4H7.3zM.8 7.3h2.4v1.4H.8zM12.8 7.3h2.4v1.4h-2.4zM2.4 3.4l1-1 1.7 1.7-1 1zM10.9 11.9l1-1 1.7 1.7-1 1zM12.6 2.4l1 1-1.7 1.7-1-1zM4.1 10.9l1 1-1.7 1.7-1-1z',
  dark: 'M6.2 1.6A6.6 6.6 0 1 0 14.4 9.8 5.4 5.4 0 0 1 6.2 1.6z',
} as const

export type Sign = keyof typeof shapes

/** A sign that stands for no text: whatever holds it has a label. */
export const Icon = ({ sign }: { sign: Sign }): VNode => (
  <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
    <path d={shapes[sign]} />
  </svg>
)
