import type { VNode } from 'preact'
import type { Person } from '../model/index.js'
import { Name } from './parts.js'

export interface PeopleProps {
  readonly people: readonly Person[]
  readonly me: string | undefined
  readonly mute: (participant: string, isMuted: boolean) => void
}

/** Who is in the space, what each is at, and whose thoughts are shown. */
export const People = ({ people, me, mute }: PeopleProps): VNode => (
  <nav class="people" aria-label="Participants">
    <h2>Participants</h2>
    <ul>
      {people.map(({ id, isPresent, load, isMuted }) => (
        <li key={id} class={isPresent ? '' : 'away'}>
          <span
            class={`presence ${load > 0 ? 'busy' : ''}`}
            title={isPresent ? (load > 0 ? 'thinking' : 'here') : 'away'}
          >
            {load > 0 ? '◐' : isPresent ? '●' : '○'}
          </span>
          <Name id={id} />
          {id === me && <span class="dim">you</span>}
          {load > 0 && (
            <span class="load" title="Runs that go on">
              {load}
            </span>
          )}
          <button
            type="button"
            class="mute"
            aria-pressed={isMuted}
            title={isMuted ? `Show what ${id} thinks` : `Hide what ${id} thinks, for you alone`}
            aria-label={isMuted ? `Show the thoughts of ${id}` : `Hide the thoughts of ${id}`}
            onClick={() => mute(id, !isMuted)}
          >
            {isMuted ? 'show' : 'hide'}
          </button>
        </li>
      ))}
    </ul>
  </nav>
)
