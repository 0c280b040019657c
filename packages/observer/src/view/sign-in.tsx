import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { Place } from '../connect/place.js'

export interface SignInProps {
  readonly space: string
  /** Why there is no session. */
  readonly problem: string | undefined
  /** What is under way; nothing can be entered meanwhile. */
  readonly isBusy: boolean
  /** Without a space: whichever the token opens. */
  readonly enter: (given: Partial<Pick<Place, 'space' | 'token'>>) => void
}

/** Asks who somebody is. The token goes to the gateway alone, and is kept in this tab. */
export function SignIn({ space: known, problem, isBusy, enter }: SignInProps): VNode {
  const [space, setSpace] = useState(known)
  const [token, setToken] = useState('')
  return (
    <main class="sign-in">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          const [name, secret] = [space.trim(), token.trim()]
          enter({ ...(name !== '' && { space: name }), ...(secret !== '' && { token: secret }) })
        }}
      >
        <h1>Enter a space</h1>
        {problem !== undefined && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        <label>
          Token
          <input
            name="token"
            type="password"
            autocomplete="off"
            spellcheck={false}
            value={token}
            onInput={(event) => setToken(event.currentTarget.value)}
          />
        </label>
        <label>
          <span>
            Space <span class="dim">if your token opens several</span>
          </span>
          <input
            name="space"
            pattern="[a-z0-9][a-z0-9\-]*"
            maxLength={63}
            autocomplete="off"
            spellcheck={false}
            value={space}
            onInput={(event) => setSpace(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="primary" disabled={isBusy}>
          {isBusy ? 'Asking the gateway…' : 'Enter'}
        </button>
        <p class="dim">
          In the folder of the space <code>meup open</code> brings you in without a token. Yours lies there in{' '}
          <code>.meup/tokens</code>, in a file with your name; it stays in this tab. Guests have none.
        </p>
      </form>
    </main>
  )
}

export interface SpaceChoiceProps {
  readonly spaces: readonly string[]
  readonly choose: (space: string) => void
  readonly back: () => void
}

/** Where a token opens several spaces. */
export const SpaceChoice = ({ spaces, choose, back }: SpaceChoiceProps): VNode => (
  <main class="sign-in">
    <div class="card">
      <h1>Which space?</h1>
      <ul class="spaces">
        {spaces.map((space) => (
          <li key={space}>
            <button type="button" onClick={() => choose(space)}>
              {space}
            </button>
          </li>
        ))}
      </ul>
      <button type="button" class="quiet" onClick={back}>
        Another token
      </button>
    </div>
  </main>
)

export interface OtherNameProps {
  readonly space: string
  readonly participant: string
  readonly enter: () => void
  readonly stay: () => void
}

/** A link may come from anybody: nobody is to speak under another name without noticing. */
export const OtherName = ({ space, participant, enter, stay }: OtherNameProps): VNode => (
  <main class="sign-in">
    <div class="card">
      <h1>
        Enter {space} as {participant}?
      </h1>
      <p>
        The link that you have opened is for {participant}. In this tab you are signed in already, with
        another token.
      </p>
      <button type="button" class="primary" onClick={enter}>
        Enter as {participant}
      </button>
      <button type="button" onClick={stay}>
        Stay as I am
      </button>
    </div>
  </main>
)
