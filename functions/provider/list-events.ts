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
import { real } from '../../shared/runtime.ts'
import { listFeed } from '../../shared/store/webhooks/feed.ts'
import { findWebhookSettings } from '../../shared/store/webhooks/webhooks.ts'
import { findEvents } from '../../shared/webhooks/find-events.ts'

const FEED_MS = FEED_DAYS * DAY_MS

/** Lists all events of a provider in one order, with the bodies of their webhooks (docs/api.md#event-feed). */
export const listEvents = endpoint('list-events', async ({ caller, query, at }) => {
  const { id } = caller.provider
  const list = listHash('list-events', id)
  const position = positionIn(list, query.cursor ?? query.after, query.after ? 'after' : 'cursor')
  if (position instanceof Refusal) return position
  const after = readFeedPosition(position)
  const { perPage } = pageRequest(query)
  const notBefore = new Date(at.getTime() - FEED_MS)
  const [entries, webhook] = await Promise.all([
    // The extra entry shows whether a page follows.
    listFeed(id, { after, notBefore, limit: perPage + 1 }),
    findWebhookSettings(id),
  ])
  const shown = entries.slice(0, perPage)
  const events = await findEvents(
    shown.map(({ entry }) => entry.reference),
    logUnreadable('list-events'),
  )
  const byKey = new Map(events.map((event) => [keyOf(event), event]))
  return {
    data: shown.flatMap(({ entry }) => byKey.get(keyOf(entry))?.payload(webhook) ?? []),
    page: {
      per_page: perPage,
      // Without new events the position stays the same.
      next_cursor: cursorFor(list, feedPosition(shown.at(-1)?.position ?? after)),
      has_more: entries.length > perPage,
    },
  }
})

const keyOf = ({ reference, n }: FeedEntry): string => `${reference}#${n}`

export const handler = listEvents(real)
