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

/** Mutants that few unit tests can reveal: most need a crash, a race, a lost reply or a full night. */
export const mutants: readonly Mutant[] = [
  {
    name: 'day-total-outside-the-transaction',
    file: 'shared/store/debits/charges.ts',
    from: '    await withConflictRetries(() => db.table.send(new TransactWriteCommand(input)), runtime)',
    to: `    await withConflictRetries(async () => {
      const counted = dayTotalWrite(newDebit)
      if (counted.length > 0) {
        await db.table.send(new TransactWriteCommand({ TransactItems: counted }))
      }
      const TransactItems = creationWrites({ ...newDebit, dailyLimit: undefined })
      await db.table.send(new TransactWriteCommand({ TransactItems }))
    }, runtime)`,
  },
  {
    name: 'limit-returned-to-the-wrong-day',
    file: 'shared/store/debits/transitions.ts',
    from: 'writeWithDayTotal(update, next, countedOn, others)',
    to: `writeWithDayTotal(
      update,
      next,
      (next.history.at(-1)?.at ?? new Date(0)).toISOString().slice(0, 10),
      others,
    )`,
  },
  {
    name: 'reversed-debit-settled',
    file: 'shared/settlement/lanes.ts',
    from: `    if (stateAt(debit).updatedAt >= before) return []
    const { settlement } = lifecycle[status]
    if (settlement === 'settle' && !settledIn) {`,
    to: `    if ((stateAt(debit).completedAt ?? before) >= before) return []
    const { settlement } = lifecycle[status]
    if (!settledIn) {`,
  },
  {
    name: 'line-without-condition',
    file: 'shared/store/settlement/lines.ts',
    from: `\`#status = :status AND #version = :version AND attribute_not_exists(\${mark})\``,
    to: "'#status = :status AND #version >= :version'",
  },
  {
    name: 'line-before-its-mark',
    file: 'shared/store/settlement/lines.ts',
    from: '  const failed = await transactWrites(writes, runtime)',
    to: `  const failedLines = await transactWrites(writes.slice(0, MARKS), runtime)
  const failedMarks =
    failedLines.length > 0 ? [] : await transactWrites(writes.slice(MARKS), runtime)
  const failed =
    failedMarks.length > 0 ? [...Array(MARKS).fill(false), ...failedMarks] : failedLines`,
  },
  {
    name: 'payout-retried-with-a-new-uuid',
    file: 'shared/settlement/pay.ts',
    from: `pay({
    uuid,`,
    to: `pay({
    uuid: repeated ? (deps.runtime.newId() as typeof uuid) : uuid,`,
  },
  {
    name: 'batch-without-optimistic-lock',
    file: 'shared/store/settlement/batches.ts',
    from: 'db.putWrite(toBatchItem(next), db.hasVersion(previous.version))',
    to: `db.putWrite(toBatchItem(next), {
    ...db.hasVersion(previous.version),
    ConditionExpression: '#version >= :previous',
  })`,
  },
  {
    name: 'refund-retried-with-a-new-uuid',
    file: 'functions/jobs/refund-customer.ts',
    from: 'refundAtBank({ ...begun, repeated })',
    to: 'refundAtBank({ ...begun, uuid: runtime.newId() as typeof begun.uuid, repeated: false })',
  },
  {
    name: 'transition-from-an-older-version',
    file: 'shared/store/debits/transitions.ts',
    from: "ConditionExpression: '#status = :from AND #version = :current',",
    to: "ConditionExpression: '#status = :from AND #version >= :current',",
  },
  {
    name: 'lost-race-reported-as-success',
    file: 'shared/store/debits/transitions.ts',
    from: 'return commit(current, next, alongside(current, next), runtime)',
    to: 'return (await commit(current, next, alongside(current, next), runtime)) ?? next',
  },
  {
    name: 'webhook-cached-across-providers',
    file: 'shared/store/webhooks/webhooks.ts',
    from: `export const findWebhookWithHealth = async (id: ProviderId) => {
`,
    to: `let first: ProviderId | undefined

export const findWebhookWithHealth = async (requested: ProviderId) => {
  first ??= requested
  const id = first
`,
  },
  {
    name: 'one-daily-limit-for-all-providers',
    file: 'shared/store/keys.ts',
    from: `item(\`PROVIDER#\${provider}\`, \`DAY#\${day}\`)`,
    to: `item('PROVIDER#', \`DAY#\${day}\`)`,
  },
  {
    name: 'replay-counted-against-the-limit',
    file: 'shared/store/debits/charges.ts',
    from: `  const claim = await findClaim(newDebit)
  if (claim) return resultOfClaim(newDebit, claim)
  if (failed[DEBIT])`,
    to: `  const claim = failed[DAY_TOTAL] ? undefined : await findClaim(newDebit)
  if (claim) return resultOfClaim(newDebit, claim)
  if (failed[DEBIT])`,
  },
  {
    name: 'failed-transaction-reported-as-created',
    file: 'shared/store/debits/charges.ts',
    from: '  if (!claim) throw error',
    to: "  if (!claim) return { kind: 'created', debit: newDebit.debit }",
  },
  {
    name: 'submission-with-a-new-idempotency-key',
    file: 'shared/banks/request.ts',
    from: "headers: { 'x-idempotency-key': uuid },",
    to: `headers: { 'x-idempotency-key': \`\${uuid}-\${config.now().getTime()}\` },`,
  },
  {
    name: 'one-exception-per-debit',
    file: 'shared/store/keys.ts',
    from: `\`EXCEPTION#\${at.toISOString()}#\${requestId}\``,
    to: "'EXCEPTION#1'",
  },
  {
    name: 'concurrent-failure-ends-a-delivery',
    file: 'shared/domain/webhooks/delivery.ts',
    from: 'if (isSettled(delivery) || isRequested) return',
    to: 'if (isRequested) return',
  },
  {
    name: 'concurrent-attempt-not-recorded',
    file: 'shared/webhooks/attempt.ts',
    from: '    next = appendAttempt(raiseMax(current, isAborted), late)',
    to: `    if (current.attemptCount >= next.attemptCount) return current
    next = appendAttempt(raiseMax(current, isAborted), late)`,
  },
  {
    name: 'aborted-attempt-not-recorded',
    file: 'shared/webhooks/deliver.ts',
    from: '        unsaved.push(attempt)',
    to: '        if (!attempt.isAborted) unsaved.push(attempt)',
  },
  {
    name: 'duplicate-message-starts-an-attempt',
    file: 'shared/webhooks/attempt.ts',
    from: 'isSettled(record) || number !== record.attemptCount + 1',
    to: 'isSettled(record)',
  },
  {
    name: 'event-in-a-receipt-and-a-record',
    file: 'shared/store/webhooks/deliveries.ts',
    from: '  if (!previous && !(await excludeFromReceipt(next))) return false',
    to: '',
  },
  {
    name: 'first-of-two-events-not-recorded',
    file: 'shared/webhooks/deliver.ts',
    from: '      await saveAttempts(unsaved, runtime)',
    to: '      await saveAttempts(unsaved.slice(1), runtime)',
  },
  {
    name: 'lost-retry-not-swept',
    file: 'shared/sweep/overdue.ts',
    from: 'return delivery && at ? { outgoing: nextAttempt(delivery, now), at } : undefined',
    to: 'return delivery && at && at > now ? { outgoing: nextAttempt(delivery, now), at } : undefined',
  },
  {
    name: 'lost-event-not-swept',
    file: 'shared/sweep/repair.ts',
    from: '      await replaceDelivery(undefined, record)',
    to: '',
  },
  {
    name: 'open-debit-not-followed',
    file: 'shared/sweep/run.ts',
    from: '    await follow(open, repaired, now)',
    to: '',
  },
  {
    name: 'sweep-ahead-of-late-indexes',
    file: 'shared/sweep/run.ts',
    from: 'const BEHIND_MS = 150_000',
    to: 'const BEHIND_MS = 0',
  },
  {
    name: 'signature-in-capitals',
    file: 'shared/webhooks/http/signature.ts',
    from: ".digest('hex')",
    to: ".digest('hex').toUpperCase()",
  },
  {
    name: 'lost-timer-not-swept',
    file: 'shared/sweep/overdue.ts',
    from: '    if (phase) {',
    to: "    if (phase && debit.status !== 'processing') {",
  },
  {
    name: 'part-counted-twice',
    file: 'shared/store/settlement/reconciliations.ts',
    from: ' AND attribute_not_exists(findings)',
    to: '',
  },
  {
    name: 'lost-part-not-swept',
    file: 'shared/sweep/reconciliation.ts',
    from: '{ outgoing: [reconciliationMessage(id, partId)], at }',
    to: 'undefined',
  },
]
