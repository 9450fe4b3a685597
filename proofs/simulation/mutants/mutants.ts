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
day-total-outside-the-transaction shared/store/debits/charges.ts
-    await withConflictRetries(() => db.table.send(new TransactWriteCommand(input)), runtime)
+    await withConflictRetries(async () => {
+      const counted = dayTotalWrite(newDebit)
+      if (counted.length > 0) {
+        await db.table.send(new TransactWriteCommand({ TransactItems: counted }))
+      }
+      const TransactItems = creationWrites({ ...newDebit, dailyLimit: undefined })
+      await db.table.send(new TransactWriteCommand({ TransactItems }))
+    }, runtime)
limit-returned-to-the-wrong-day shared/store/debits/transitions.ts
-writeWithDayTotal(update, next, countedOn, others)
+writeWithDayTotal(
+      update,
+      next,
+      (next.history.at(-1)?.at ?? new Date(0)).toISOString().slice(0, 10),
+      others,
+    )
reversed-debit-settled shared/settlement/lanes.ts
-    if (stateAt(debit).updatedAt >= before) return []
-    const { settlement } = lifecycle[status]
-    if (settlement === 'settle' && !settledIn) {
+    if ((stateAt(debit).completedAt ?? before) >= before) return []
+    const { settlement } = lifecycle[status]
+    if (!settledIn) {
line-without-condition shared/store/settlement/lines.ts
-\`#status = :status AND #version = :version AND attribute_not_exists(\${mark})\`
+'#status = :status AND #version >= :version'
line-before-its-mark shared/store/settlement/lines.ts
-  const failed = await transactWrites(writes, runtime)
+  const failedLines = await transactWrites(writes.slice(0, MARKS), runtime)
+  const failedMarks =
+    failedLines.length > 0 ? [] : await transactWrites(writes.slice(MARKS), runtime)
+  const failed =
+    failedMarks.length > 0 ? [...Array(MARKS).fill(false), ...failedMarks] : failedLines
payout-retried-with-a-new-uuid shared/settlement/pay.ts
-pay({
-    uuid,
+pay({
+    uuid: repeated ? (deps.runtime.newId() as typeof uuid) : uuid,
batch-without-optimistic-lock shared/store/settlement/batches.ts
-db.putWrite(toBatchItem(next), db.hasVersion(previous.version))
+db.putWrite(toBatchItem(next), {
+    ...db.hasVersion(previous.version),
+    ConditionExpression: '#version >= :previous',
+  })
refund-retried-with-a-new-uuid functions/jobs/refund-customer.ts
-connector.refund({ ...sent, repeated })
+connector.refund({ ...sent, uuid: runtime.newId() as typeof sent.uuid, repeated: false })
transition-from-an-older-version shared/store/debits/transitions.ts
-ConditionExpression: '#status = :from AND #version = :current',
+ConditionExpression: '#status = :from AND #version >= :current',
lost-race-reported-as-success shared/store/debits/transitions.ts
-return commit(current, next, alongside(current, next), runtime)
+return (await commit(current, next, alongside(current, next), runtime)) ?? next
webhook-cached-across-providers shared/store/webhooks/webhooks.ts
-export const findWebhookWithHealth = async (id: ProviderId) => {
-
+let first: ProviderId | undefined
+
+export const findWebhookWithHealth = async (requested: ProviderId) => {
+  first ??= requested
+  const id = first
+
one-daily-limit-for-all-providers shared/store/keys.ts
-item(\`PROVIDER#\${provider}\`, \`DAY#\${day}\`)
+item('PROVIDER#', \`DAY#\${day}\`)
replay-counted-against-the-limit shared/store/debits/charges.ts
-  const claim = await findClaim(newDebit)
-  if (claim) return resultOfClaim(newDebit, claim)
-  if (failed[DEBIT])
+  const claim = failed[DAY_TOTAL] ? undefined : await findClaim(newDebit)
+  if (claim) return resultOfClaim(newDebit, claim)
+  if (failed[DEBIT])
failed-transaction-reported-as-created shared/store/debits/charges.ts
-  if (!claim) throw error
+  if (!claim) return { kind: 'created', debit: newDebit.debit }
submission-with-a-new-idempotency-key shared/banks/request.ts
-headers: { 'x-idempotency-key': uuid },
+headers: { 'x-idempotency-key': \`\${uuid}-\${config.now().getTime()}\` },
one-exception-per-debit shared/store/keys.ts
-\`EXCEPTION#\${at.toISOString()}#\${requestId}\`
+'EXCEPTION#1'
concurrent-failure-ends-a-delivery shared/domain/webhooks/delivery.ts
-if (isSettled(delivery) || isRequested) return
+if (isRequested) return
concurrent-attempt-not-recorded shared/webhooks/attempt.ts
-    next = appendAttempt(raiseMax(current, isUncounted), late)
+    if (current.attemptCount >= next.attemptCount) return current
+    next = appendAttempt(raiseMax(current, isUncounted), late)
aborted-attempt-not-recorded shared/webhooks/deliver.ts
-        unsaved.push(attempt)
+        if (!attempt.isUncounted) unsaved.push(attempt)
timed-out-event-not-sidelined shared/webhooks/deliver.ts
-(health.slowSince || timedOut)
+health.slowSince
duplicate-message-starts-an-attempt shared/webhooks/attempt.ts
-isSettled(record) || number !== record.attemptCount + 1
+isSettled(record)
event-in-a-receipt-and-a-record shared/store/webhooks/deliveries.ts
-  if (!previous && !(await excludeFromReceipt(next))) return false
first-of-two-events-not-recorded shared/webhooks/deliver.ts
-      await saveAttempts(unsaved, runtime)
+      await saveAttempts(unsaved.slice(1), runtime)
lost-retry-not-swept shared/sweep/overdue.ts
-return delivery && at ? { outgoing: nextAttempt(delivery, now), at } : undefined
+return delivery && at && at > now ? { outgoing: nextAttempt(delivery, now), at } : undefined
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
lost-timer-not-swept shared/sweep/overdue.ts
-    if (phase) {
+    if (phase && debit.status !== 'processing') {
part-counted-twice shared/store/settlement/reconciliations.ts
- AND attribute_not_exists(findings)
lost-part-not-swept shared/sweep/reconciliation.ts
-{ outgoing: [reconciliationMessage(id, partId)], at }
+undefined
name-of-an-earlier-release-required shared/store/debits/debit-item.ts
-plain.providerName ?? plain.provider
+plain.providerName
message-of-a-later-release-refused shared/queues/messages.ts
-const SubmissionMessage = v.object({
+const SubmissionMessage = v.strictObject({
wait-not-awaited shared/submissions/submit.ts
-      await wait(debit)
+      wait(debit)
lost-race-of-an-approval-reported-as-success shared/store/debits/transitions.ts
-    isSameCause(current?.approval, next.approval) &&
decision-of-the-next-day-not-sealed shared/audit/sources.ts
-const APPROVAL_DAYS = 2
+const APPROVAL_DAYS = 0
prompt-counts-from-charge shared/domain/debits/prompts.ts
-  return at !== null && at >= since
+  return false
approval-before-the-timeout-not-read shared/submissions/expire.ts
-const due = deadline(current, phase
+const due = deadline(debit, phase`

const textIn = (lines: readonly string[], sign: '-' | '+'): string =>
  lines.flatMap((line) => (line.startsWith(sign) ? [line.slice(1)] : [])).join('\n')

export const mutants: readonly Mutant[] = MISTAKES.split(/\n(?![-+])/)
  .slice(1)
  .map((mistake) => {
    const [title = '', ...lines] = mistake.split('\n')
    const [name = '', file = ''] = title.split(' ')
    return { name, file, from: textIn(lines, '-'), to: textIn(lines, '+') }
  })
