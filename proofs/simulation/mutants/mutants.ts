/** A plausible mistake: one replacement in one file of the product. */
export type Mutant = {
  name: string
  file: string
  /** Text that occurs in the file exactly once. */
  from: string
  to: string
}

/**
 * Returns the source with the mutant's replacement.
 * @throws Error unless `from` occurs exactly once
 */
export const mutate = (source: string, { name, file, from, to }: Mutant): string => {
  const count = source.split(from).length - 1
  if (count !== 1) throw new Error(`${name}: \`from\` occurs ${count} times in ${file}`)
  return source.replace(from, () => to)
}

/**
 * Mistakes that few unit tests can reveal: most need a crash, a race, a lost reply or a full night.
 * Each has its name and file, the text that it replaces, and its own.
 */
const MISTAKES = `
limit-returned-to-the-wrong-day shared/store/debits/transitions.ts
-writeWithDayTotal(update, next, countedOn, others)
+writeWithDayTotal(update, next, next.history.at(-1)?.at.toISOString().slice(0, 10) ?? '', others)
concurrent-failure-ends-a-delivery shared/domain/webhooks/delivery.ts
-if (isSettled(delivery) || isRequested) return
+if (isRequested) return
aborted-attempt-not-recorded shared/webhooks/deliver.ts
-        unsaved.push(attempt)
+        if (!attempt.isAborted) unsaved.push(attempt)
duplicate-message-starts-an-attempt shared/webhooks/attempt.ts
-isSettled(record) || number !== record.attemptCount + 1
+isSettled(record)
event-in-a-receipt-and-a-record shared/store/webhooks/deliveries.ts
-  if (!previous && !(await excludeFromReceipt(next))) return false
lost-event-not-swept shared/sweep/repair.ts
-      await replaceDelivery(undefined, record)
open-debit-not-followed shared/sweep/run.ts
-    await follow(open, repaired, now)
sweep-ahead-of-late-indexes shared/sweep/run.ts
-const BEHIND_MS = 150_000
+const BEHIND_MS = 0
signature-in-capitals shared/webhooks/http/signature.ts
-.digest('hex')
+.digest('hex').toUpperCase()
message-of-a-later-release-refused shared/queues/messages.ts
-const SubmissionMessage = v.object({
+const SubmissionMessage = v.strictObject({
wait-not-awaited shared/submissions/submit.ts
-      await wait(debit)
+      wait(debit)`

const textIn = (lines: readonly string[], sign: '-' | '+'): string =>
  lines.flatMap((line) => (line.startsWith(sign) ? [line.slice(1)] : [])).join('\n')

export const mutants: readonly Mutant[] = MISTAKES.split(/\n(?![-+])/)
  .slice(1)
  .map((mistake) => {
    const [title = '', ...lines] = mistake.split('\n')
    const [name = '', file = ''] = title.split(' ')
    return { name, file, from: textIn(lines, '-'), to: textIn(lines, '+') }
  })
