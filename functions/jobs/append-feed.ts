import { groupConsumer } from '../../shared/queues/consume.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { appendToFeed } from '../../shared/store/webhooks/feed.ts'

/**
 * Appends events to the feeds of their providers (docs/api.md#event-feed). SQS delivers the messages of
 * a provider to one worker at a time, so relays of many shards never compete for a page.
 */
export const appendFeed = ({ now }: Pick<Runtime, 'now'>) =>
  groupConsumer('feeds.fifo', async (messages) => {
    const [first] = messages
    if (!first) return
    const events = messages.flatMap(({ events }) => events)
    await appendToFeed(first.provider, events, now())
  })

export const handler = appendFeed(real)
