import { endpoint } from '../../shared/api/endpoint.ts'
import { findEvents } from '../../shared/deliveries/events.ts'
import { FEED_DAYS, type FeedEntry, feedCursor } from '../../shared/domain/event-feed.ts'
import { pageRequest } from '../../shared/domain/page.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { readFeed } from '../../shared/store/event-feed.ts'
import { findWebhookSettings } from '../../shared/store/webhooks.ts'

const FEED_MS = FEED_DAYS * 86_400_000
const START = { page: 0, count: 0 }

/** All events of a partner in one order, with the bodies that its webhook is sent. */
export const listEvents = (runtime: Runtime) =>
  endpoint('list-events', runtime, async ({ caller, query, at }) => {
    const { id } = caller.partner
    const { perPage } = pageRequest(query)
    const after = query.after ?? START
    const notBefore = new Date(at.getTime() - FEED_MS)
    const [found, webhook] = await Promise.all([
      // One more tells whether any follow.
      readFeed(id, { after, notBefore, limit: perPage + 1 }),
      findWebhookSettings(id),
    ])
    const shown = found.slice(0, perPage)
    const events = await findEvents(shown.map(({ entry }) => entry.reference))
    const byName = new Map(events.map((event) => [nameOf(event), event]))
    return {
      data: shown.flatMap(({ entry }) => byName.get(nameOf(entry))?.payload(webhook ?? {}) ?? []),
      page: {
        per_page: perPage,
        // Where nothing is new, the reader keeps its place.
        next_cursor: feedCursor(shown.at(-1)?.position ?? after),
        has_more: found.length > perPage,
      },
    }
  })

const nameOf = ({ reference, n }: FeedEntry): string => `${reference}#${n}`

export const handler = listEvents(real)
