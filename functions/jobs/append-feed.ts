import { isBatchId } from '../../shared/domain/ids.ts'
import { DAY_MS } from '../../shared/domain/time.ts'
import { groupConsumer } from '../../shared/queues/consume.ts'
import type { Message } from '../../shared/queues/messages.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { keys } from '../../shared/store/keys.ts'
import { latestRestore } from '../../shared/store/operator/restores.ts'
import { readMany } from '../../shared/store/table.ts'
import { appendToFeed } from '../../shared/store/webhooks/feed.ts'

/** Messages are older at most: they wait in their queue, then in its dead-letter queue. */
const MESSAGE_DAYS = 18

/** Drops events of debits that a restore has lost: their messages were sent before it. */
const withoutLost = async (events: Message<'feeds.fifo'>['events'], at: Date) => {
  const { begunAt } = (await latestRestore(at)) ?? {}
  if (!begunAt || at.getTime() - begunAt.getTime() > MESSAGE_DAYS * DAY_MS) return events
  const own = events.map(({ reference }) => reference).filter((one) => !isBatchId(one))
  const debits = new Set((await readMany(own.map(keys.debit))).map(({ pk }) => pk))
  return events.filter(
    ({ reference }) => isBatchId(reference) || debits.has(keys.debit(reference).pk),
  )
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
