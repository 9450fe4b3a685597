import type { Aws } from './aws.ts'
import type { ClockSetting } from './clock.ts'
import type { Entry, Schedule, SentMessage } from './journal.ts'
import { queueIn } from './queues.ts'
import { isFollowed } from './stream-filters.ts'
import type { Change, Item } from './table/change.ts'

/**
 * Restores the state of earlier processes: items, messages, schedules, objects, and the stream from
 * the first change that it has not delivered. A message that was in flight becomes visible again. The
 * caller sets the clock.
 * @returns the entries of the restored state
 */
export const restore = (aws: Aws, entries: Iterable<Entry>): Entry[] => {
  const undelivered = new Map<number, Change>()
  const messages = new Map<string, SentMessage>()
  const schedules = new Map<string, Schedule>()
  let clock: ClockSetting | undefined

  for (const entry of entries) {
    if ('changes' in entry) {
      for (const change of entry.changes) {
        if (isFollowed(change)) undelivered.set(change.sequence, change)
        aws.table.restore((change.after ?? change.before) as Item, change.after, change.sequence)
      }
    } else if ('handled' in entry)
      for (const sequence of entry.handled) undelivered.delete(sequence)
    else if ('undelivered' in entry) {
      const { after, sequence } = entry.undelivered
      undelivered.set(sequence, entry.undelivered)
      // Later changes count on from here; the item itself follows.
      aws.table.restore(after as Item, undefined, sequence)
    } else if ('item' in entry) aws.table.restore(entry.item, entry.item, 0)
    else if ('sent' in entry) {
      messages.set(entry.sent.id, { ...entry.sent, queue: queueIn(entry.sent.queue) })
    } else if ('removed' in entry) messages.delete(entry.removed)
    else if ('schedule' in entry) schedules.set(entry.schedule.Name, entry.schedule)
    else if ('unscheduled' in entry) schedules.delete(entry.unscheduled)
    else if ('clock' in entry) clock = entry.clock
    else if ('secret' in entry) aws.secrets.restore(entry.secret)
    else aws.bucket.objects.set(entry.object.key, entry.object)
  }
  for (const change of undelivered.values()) aws.streamChange(change)
  for (const sent of messages.values()) aws.queues.add(sent)
  for (const schedule of schedules.values()) aws.scheduler.start(schedule)
  return [
    ...(clock ? [{ clock }] : []),
    { secret: aws.secrets.versions() },
    ...[...undelivered.values()].map((change) => ({ undelivered: change })),
    ...aws.table.items().map((item) => ({ item })),
    ...[...messages.values()].map((sent) => ({ sent })),
    ...[...schedules.values()].map((schedule) => ({ schedule })),
    ...[...aws.bucket.objects.values()].map((object) => ({ object })),
  ]
}
