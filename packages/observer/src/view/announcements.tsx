import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { SpaceModel } from '../model/index.js'
import { memo } from './memo.js'

/** Milliseconds between two announcements. */
const every = 2000

/**
 * Tells those who do not see the page what began, what ended and what is asked for; never more often than that. It is not
 * drawn again for anything else: each time a text is set, even the same, it may be read out.
 */
export const Announcements = memo(({ model }: { model: SpaceModel }): VNode => {
  const [text, setText] = useState('')
  useEffect(() => {
    const timer = setInterval(() => {
      const news = model.live.announcer.tell()
      if (news !== '') setText(news)
    }, every)
    return () => clearInterval(timer)
  }, [model])
  return (
    <p class="unseen" role="status" aria-live="polite">
      {text}
    </p>
  )
})
