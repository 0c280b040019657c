import {
  ConnectionError,
  type ExchangedLink,
  exchangeLink,
  type HttpTarget,
  listSpaces,
} from '@meup/agent-sdk/http'
import { getErrorMessage } from '@meup/protocol'
import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { hasOtherToken, loadLastSpace, loadToken } from '../connect/storage.js'
import { Alert, Checkbox } from './shared/parts.js'

interface EntranceProps {
  /** Address of the gateway that served the page. */
  readonly url: string
  /** One-time sign-in code from a link. */
  readonly code: string | undefined
  /** The space in the URL. */
  readonly space: string | undefined
  /** Reason why the reader has to sign in again. */
  readonly problem: string | undefined
  /** `isKept`: the token is stored in the browser, not only in the tab. */
  readonly enter: (place: HttpTarget, isKept: boolean) => void
  /** Ignores the link, and continues the previous session. */
  readonly stay: () => void
}

/** Signs in with a link, with a token, or as a guest. */
export function Entrance({ url, code, space, problem, enter, stay }: EntranceProps): VNode {
  const [isBusy, setBusy] = useState(code !== undefined)
  const [requestError, setRequestError] = useState<string | undefined>()
  const [invitation, setInvitation] = useState<ExchangedLink | undefined>()
  const [offer, setOffer] = useState<{
    readonly spaces: readonly string[]
    readonly token?: string
    readonly isKept: boolean
  }>()

  const during = (what: string, work: () => Promise<void>): void => {
    setBusy(true)
    setRequestError(undefined)
    work()
      .catch((error: unknown) => setRequestError(`${what}: ${formatLoginError(error)}`))
      .finally(() => setBusy(false))
  }
  useEffect(() => {
    if (code === undefined) return
    during('The link does not open', async () => {
      const link = await exchangeLink(url, code)
      if (hasOtherToken(link)) setInvitation(link)
      else enter({ url, space: link.space, token: link.token }, true)
    })
  }, [code])

  if (invitation !== undefined) {
    const { space, participant, token } = invitation
    const switchName = (): void => enter({ url, space, token }, true)
    return <OtherName space={space} participant={participant} enter={switchName} stay={stay} />
  }

  if (offer !== undefined) {
    const { spaces, token, isKept } = offer
    return (
      <SpaceChoice
        spaces={spaces}
        choose={(chosen) => enter({ url, space: chosen, ...(token !== undefined && { token }) }, isKept)}
        back={() => setOffer(undefined)}
      />
    )
  }
  return (
    <SignIn
      key={space}
      space={space ?? loadLastSpace()}
      problem={requestError ?? problem}
      isBusy={isBusy}
      enter={(given) => {
        const { space: named, token = named && loadToken(named), isKept } = given
        const known = token === undefined ? {} : { token }
        if (named !== undefined) {
          enter({ url, space: named, ...known }, isKept)
          return
        }
        during('No space is open to you', async () => {
          const spaces = await listSpaces(url, token)
          const [only] = spaces
          if (spaces.length === 1 && only !== undefined) enter({ url, space: only, ...known }, isKept)
          else setOffer({ spaces, isKept, ...known })
        })
      }}
    />
  )
}

const formatLoginError = (error: unknown): string =>
  error instanceof ConnectionError ? 'the gateway cannot be reached; is it running?' : getErrorMessage(error)

interface SignInProps {
  readonly space: string
  /** Reason why the reader has to sign in again. */
  readonly problem: string | undefined
  /** Whether a request is pending; disables the form. */
  readonly isBusy: boolean
  /** Without `space`, the gateway finds the space of the token. */
  readonly enter: (given: Partial<Pick<HttpTarget, 'space' | 'token'>> & { readonly isKept: boolean }) => void
}

/**
 * The sign-in form. The token is sent only to the gateway; it is stored in this tab, or in the browser if the reader chooses
 * so.
 */
function SignIn({ space: known, problem, isBusy, enter }: SignInProps): VNode {
  const [space, setSpace] = useState(known)
  const [token, setToken] = useState('')
  const [isKept, setKept] = useState(false)
  return (
    <main class="sign-in">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          const [name, secret] = [space.trim(), token.trim()]
          enter({ isKept, ...(name !== '' && { space: name }), ...(secret !== '' && { token: secret }) })
        }}
      >
        <header>
          <p class="dim">MEUP spaces</p>
          <h1>Enter a space</h1>
          <p class="dim">In a space, people and agents work together, and everything is logged.</p>
        </header>
        {problem !== undefined && <Alert>{problem}</Alert>}
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
        <Checkbox checked={isKept} set={setKept}>
          Stay signed in on this browser
        </Checkbox>
        <button type="submit" class="primary" disabled={isBusy}>
          {isBusy ? 'Asking the gateway…' : 'Enter'}
        </button>
        <p class="dim">
          In the folder of the space <code>meup open</code> signs you in, and a bookmark works from then on.
          Your token lies there in <code>.meup/tokens</code>, in a file with your name. Guests have none.
        </p>
      </form>
    </main>
  )
}

interface SpaceChoiceProps {
  readonly spaces: readonly string[]
  readonly choose: (space: string) => void
  readonly back: () => void
}

/** Choice between the spaces that a token opens. */
const SpaceChoice = ({ spaces, choose, back }: SpaceChoiceProps): VNode => (
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

interface OtherNameProps {
  readonly space: string
  readonly participant: string
  readonly enter: () => void
  readonly stay: () => void
}

/** Confirms a change of identity: a sign-in link may come from anyone. */
const OtherName = ({ space, participant, enter, stay }: OtherNameProps): VNode => (
  <main class="sign-in">
    <div class="card">
      <h1>
        Enter {space} as {participant}?
      </h1>
      <p>
        The link that you have opened is for {participant}. You are signed in already, with another token.
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
