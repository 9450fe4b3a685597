import { DAY_MS } from '../../shared/domain/time.ts'
import { logUnreadable } from '../../shared/log.ts'
import { groupConsumer } from '../../shared/queues/consume.ts'
import type { Message } from '../../shared/queues/messages.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { latestRestore } from '../../shared/store/operator/restores.ts'
import { appendToFeed, textOf } from '../../shared/store/webhooks/feed.ts'
import { findEvents } from '../../shared/webhooks/find-events.ts'

/** No message is older: it waits in its queue, then in its dead-letter queue. */
const MESSAGE_DAYS = 18

/** Drops events that a restore has lost: their messages were sent before it, and others get their numbers. */
const withoutLost = async (events: Message<'feeds.fifo'>['events'], at: Date) => {
  const { begunAt } = (await latestRestore(at)) ?? {}
  if (!begunAt || at.getTime() - begunAt.getTime() > MESSAGE_DAYS * DAY_MS) return events
  const references = events.map(({ reference }) => reference)
  const found = await findEvents(references, logUnreadable('append-feed'))
  const known = new Set(found.map(textOf))
  return events.filter((event) => known.has(textOf(event)))
}

/**
 * Appends events to the feeds of their providers (docs/api.md#event-feed). SQS delivers the messages of
 * a group to one worker at a time, and a provider has one group, so relays of many shards never compete for
 * a page; where a stage admits over 4,000 charges a second, it has several.
 */
export const appendFeed = ({ now }: Pick<Runtime, 'now'>) =>
  groupConsumer('feeds.fifo', async (messages) => {
    const [first] = messages
    if (!first) return
    const events = messages.flatMap(({ events }) => events)
    await appendToFeed(first.provider, await withoutLost(events, now()), now())
  })

export const handler = appendFeed(real)
