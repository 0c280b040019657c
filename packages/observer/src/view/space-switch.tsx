import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { spacesOf } from '../connect/one-time-link.js'
import { keepToken } from '../connect/place.js'
import type { Session } from '../connect/session.js'
import { writeRoute } from '../model/index.js'

/** The name of the space, and the way to others that the same token opens. */
export function SpaceSwitch({ session }: { session: Session }): VNode {
  const { place, stage } = session
  const [spaces, setSpaces] = useState<readonly string[]>([])
  const isLive = stage.at === 'live'
  useEffect(() => {
    if (!isLive) return
    spacesOf(place.url, place.token).then(setSpaces, (error: unknown) =>
      console.info('the spaces of this token are not known:', error),
    )
  }, [place, isLive])
  if (spaces.length < 2) return <strong class="space">{place.space}</strong>
  return (
    <select
      class="space"
      aria-label="Space"
      value={place.space}
      onChange={(event) => {
        const space = event.currentTarget.value
        keepToken({ ...place, space })
        location.hash = writeRoute({ space })
      }}
    >
      {spaces.map((space) => (
        <option key={space} value={space}>
          {space}
        </option>
      ))}
    </select>
  )
}
