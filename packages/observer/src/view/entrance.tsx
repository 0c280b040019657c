import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { exchange, type Invitation, spacesOf } from '../connect/one-time-link.js'
import { isElse, keptToken, latestSpace, type Place } from '../connect/place.js'
import { OtherName, SignIn, SpaceChoice } from './sign-in.js'

/** The gateway that has served the page. */
export const url = location.origin

export interface EntranceProps {
  /** One-time code to be exchanged. */
  readonly code: string | undefined
  /** Space that the address names. */
  readonly space: string | undefined
  /** Why there is no session. */
  readonly problem: string | undefined
  readonly enter: (place: Place) => void
  /** Goes on as before the link was opened. */
  readonly stay: () => void
}

/** How somebody comes in: with a link, with a token, or as a guest. */
export function Entrance({ code, space, problem, enter, stay }: EntranceProps): VNode {
  const [isBusy, setBusy] = useState(code !== undefined)
  const [trouble, setTrouble] = useState<string | undefined>()
  const [invitation, setInvitation] = useState<Invitation | undefined>()
  const [offer, setOffer] = useState<{ readonly spaces: readonly string[]; readonly token?: string }>()

  const during = (what: string, work: () => Promise<void>): void => {
    setBusy(true)
    setTrouble(undefined)
    work()
      .catch((error: unknown) => setTrouble(`${what}: ${whyNot(error)}`))
      .finally(() => setBusy(false))
  }
  useEffect(() => {
    if (code === undefined) return
    during('The link does not open', async () => {
      const opened = await exchange(url, code)
      if (isElse(opened.place)) setInvitation(opened)
      else enter(opened.place)
    })
  }, [code])

  if (invitation !== undefined) {
    const { place, participant } = invitation
    return <OtherName space={place.space} participant={participant} enter={() => enter(place)} stay={stay} />
  }

  if (offer !== undefined) {
    const { spaces, token } = offer
    return (
      <SpaceChoice
        spaces={spaces}
        choose={(chosen) => enter({ url, space: chosen, ...(token !== undefined && { token }) })}
        back={() => setOffer(undefined)}
      />
    )
  }
  return (
    <SignIn
      key={space}
      space={space ?? latestSpace()}
      problem={trouble ?? problem}
      isBusy={isBusy}
      enter={(given) => {
        const { space: named, token = named && keptToken(named) } = given
        const known = token === undefined ? {} : { token }
        if (named !== undefined) {
          enter({ url, space: named, ...known })
          return
        }
        during('No space is open to you', async () => {
          const spaces = await spacesOf(url, token)
          const [only] = spaces
          if (spaces.length === 1 && only !== undefined) enter({ url, space: only, ...known })
          else setOffer({ spaces, ...known })
        })
      }}
    />
  )
}

/** `fetch` says nothing that helps where there is no gateway. */
const whyNot = (error: unknown): string =>
  error instanceof TypeError ? 'the gateway cannot be reached; is it running?' : messageOf(error)

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
