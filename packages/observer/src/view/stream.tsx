import type { VNode } from 'preact'
import { useDesk } from './desk.js'
import { Newer } from './newer.js'
import { StreamRow } from './rows.js'
import { type ViewProps, viewOf } from './view.js'
import { VirtualRows } from './virtual-rows.js'

/** The conversation with what is thought in it. Only what is near the view is in the document. */
export function Stream({ current, handle }: ViewProps): VNode {
  const { session } = useDesk()
  const { model } = session
  return (
    <div class="stream">
      <VirtualRows
        list={model.lists.stream}
        current={current}
        component={StreamRow}
        group={{
          role: 'feed',
          'aria-label': 'What happens in the space',
          'aria-busy': session.isLoading || model.isBehind,
        }}
        handle={(rows) => handle(viewOf(rows))}
        follow={(isFollowing) => model.follow(isFollowing)}
        over={(isFollowing, start, toEnd) => (
          <>
            {session.hasEarlier && start === 0 && (
              <button
                type="button"
                class="earlier"
                disabled={session.isLoading}
                onClick={() => session.loadEarlier()}
              >
                {session.isLoading ? 'Loading…' : 'Load earlier'}
              </button>
            )}
            {!isFollowing && <Newer count={model.unseen} toEnd={toEnd} />}
          </>
        )}
      />
    </div>
  )
}
