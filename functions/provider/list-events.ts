import { endpoint } from '../../shared/api/endpoint.ts'
import { cursorFor, listHash, positionIn } from '../../shared/api/pagination.ts'
import { pageRequest } from '../../shared/domain/page.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { DAY_MS } from '../../shared/domain/time.ts'
import {
  FEED_DAYS,
  type FeedEntry,
  feedPosition,
  readFeedPosition,
} from '../../shared/domain/webhooks/feed.ts'
import { logUnreadable } from '../../shared/log.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { listFeed } from '../../shared/store/webhooks/feed.ts'
import { findWebhookSettings } from '../../shared/store/webhooks/webhooks.ts'
import { findEvents } from '../../shared/webhooks/find-events.ts'

const FEED_MS = FEED_DAYS * DAY_MS

/** All events of a provider in one order, with the bodies that its webhook receives. */
export const listEvents = (runtime: Runtime) =>
  endpoint('list-events', runtime, async ({ caller, query, at }) => {
    const { id } = caller.provider
    const list = listHash('list-events', id)
    const position = positionIn(list, query.cursor ?? query.after, query.after ? 'after' : 'cursor')
    if (position instanceof Refusal) return position
    const after = readFeedPosition(position)
    const { perPage } = pageRequest(query)
    const notBefore = new Date(at.getTime() - FEED_MS)
    const [found, webhook] = await Promise.all([
      // One more shows whether a page follows.
      listFeed(id, { after, notBefore, limit: perPage + 1 }),
      findWebhookSettings(id),
    ])
    const shown = found.slice(0, perPage)
    const events = await findEvents(
      shown.map(({ entry }) => entry.reference),
      logUnreadable('list-events'),
    )
    const byName = new Map(events.map((event) => [nameOf(event), event]))
    return {
      data: shown.flatMap(({ entry }) => byName.get(nameOf(entry))?.payload(webhook ?? {}) ?? []),
      page: {
        per_page: perPage,
        // Without new events the reader keeps its position.
        next_cursor: cursorFor(list, feedPosition(shown.at(-1)?.position ?? after)),
        has_more: found.length > perPage,
      },
    }
  })

const nameOf = ({ reference, n }: FeedEntry): string => `${reference}#${n}`

export const handler = listEvents(real)
