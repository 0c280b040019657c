import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { Place } from '../connect/place.js'

export interface SignInProps {
  readonly space: string
  /** Why there is no session. */
  readonly problem: string | undefined
  readonly enter: (place: Pick<Place, 'space' | 'token'>) => void
}

/** Asks who somebody is. The token goes to the gateway alone, and is kept in this tab. */
export function SignIn({ space: known, problem, enter }: SignInProps): VNode {
  const [space, setSpace] = useState(known)
  const [token, setToken] = useState('')
  return (
    <main class="sign-in">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          const given = token.trim()
          enter({ space: space.trim(), ...(given !== '' && { token: given }) })
        }}
      >
        <h1>Enter a space</h1>
        {problem !== undefined && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        <label>
          Space
          <input
            name="space"
            required
            pattern="[a-z0-9][a-z0-9\-]*"
            maxLength={63}
            autocomplete="off"
            spellcheck={false}
            value={space}
            onInput={(event) => setSpace(event.currentTarget.value)}
          />
        </label>
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
        <button type="submit" class="primary">
          Enter
        </button>
        <p class="dim">
          Your token lies where the gateway runs, in <code>.meup/tokens</code> beside its space.yaml, in a
          file with your name. It stays in this tab. Guests have none.
        </p>
      </form>
    </main>
  )
}
