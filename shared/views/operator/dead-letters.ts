import type { DeadLetter } from '../../domain/operator/dead-letter.ts'

/** `remaining` includes letters in flight. */
export type RedriveResult = { queue: string; moved: number; remaining: number }

/** `letters`: the first ones, if the call names the queue. */
export type DeadLettersResult = {
  queue: string
  count: number
  letters?: ReturnType<typeof letterView>[]
}

export const letterView = ({ id, sentAt, kind, reason, subject }: DeadLetter, now: Date) => ({
  message_id: id,
  age_seconds: Math.floor((now.getTime() - sentAt.getTime()) / 1000),
  kind,
  reason,
  subject,
})
