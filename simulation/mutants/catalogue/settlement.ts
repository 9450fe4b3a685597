import type { Fault } from '../mutant.ts'

/** Lines, batches and their payment. */

const build = { area: 'money', file: 'shared/settlement/build.ts' } as const
const line = { area: 'money', file: 'shared/domain/settlement/line.ts' } as const
const lines = { area: 'money', file: 'shared/store/settlement/lines.ts' } as const
const pay = { area: 'money', file: 'shared/settlement/pay.ts' } as const
const refund = { area: 'money', file: 'functions/jobs/refund-customer.ts' } as const

export const settlement: readonly Fault[] = [
  {
    ...build,
    name: 'today-settled-as-well',
    from: 'const before = startOf(date)',
    to: 'const before = runtime.now()',
    invariants: [28],
    needs: 'a debit completed between midnight and a later run of the same night',
  },
  {
    ...build,
    name: 'yesterday-settled-alone',
    from: '{ from: BEGINNING, before, pageSize: DEBITS_PER_READ }',
    to: '{ from: new Date(before.getTime() - 86_400_000), before, pageSize: DEBITS_PER_READ }',
    invariants: [22, 25, 28],
    needs: 'a day whose runs did not come, or came to nothing for a provider',
  },
  {
    ...build,
    name: 'reversed-debit-settled',
    from: `    if (stateAt(debit).updatedAt >= before) return []
    if (status === 'completed' && !settledIn) {`,
    to: `    if ((stateAt(debit).completedAt ?? before) >= before) return []
    if (!settledIn) {`,
    invariants: [23],
    needs: 'a reversal that the index does not show yet when a run reads it',
  },
  {
    name: 'run-of-the-day-before',
    area: 'money',
    file: 'functions/jobs/open-settlement.ts',
    from: 'const date = dayOf(runtime.now())',
    to: 'const date = dayOf(new Date(runtime.now().getTime() - 86_400_000))',
    invariants: [22, 25, 27, 28],
    needs: 'completed debits and one night of runs after them',
  },
  {
    name: 'batch-summed-and-left-open',
    area: 'money',
    file: 'shared/settlement/seal.ts',
    from: '  if (!batch.sealedAt) return { ...batch, sealedAt: now() }\n',
    to: '',
    invariants: [24, 25, 26],
    needs: 'a debit that the index shows only to a later run of the same night',
  },
  {
    ...lines,
    name: 'line-whatever-became-of-its-debit',
    from: '`#status = :status AND #version = :version AND attribute_not_exists(${mark})`',
    to: "'#status = :status AND #version >= :version'",
    invariants: [22],
    needs: 'two runs of one provider and day at once, one of which seals before the other writes',
  },
  {
    ...lines,
    name: 'line-before-its-mark',
    from: `    const write = () => table.send(new TransactWriteCommand({ TransactItems }))
    await withConflictRetries(write, runtime)`,
    to: `    const [header, ...others] = TransactItems
    const lines = [header, ...others.filter((_, n) => n % 2 === 0)]
    const marks = others.filter((_, n) => n % 2 === 1)
    for (const some of [lines, marks]) {
      const part = { TransactItems: some as typeof TransactItems }
      await withConflictRetries(() => table.send(new TransactWriteCommand(part)), runtime)
    }`,
    invariants: [22, 23],
    needs: 'completed debits and a night of runs',
  },
  {
    ...lines,
    name: 'adjustment-marked-as-settlement',
    from: "line.type === 'debit' ? 'settledIn' : 'adjustedIn'",
    to: "'settledIn'",
    invariants: [27],
    needs: 'a reversal after settlement, and a run after it',
  },
  {
    ...line,
    name: 'adjustment-above-zero',
    from: 'net: pesewas(-original.net),',
    to: 'net: pesewas(original.net),',
    invariants: [27],
    needs: 'a reversal after settlement, and a run after it',
  },
  {
    ...line,
    name: 'adjustment-keeps-the-fee',
    from: `  fee: pesewas(-original.fee),
  net: pesewas(-original.net),`,
    to: `  fee: pesewas(0),
  net: pesewas(-original.gross),`,
    invariants: [27],
    needs: 'a reversal after settlement, and a run after it, of a debit with a fee',
  },
  {
    name: 'net-without-adjustments',
    area: 'money',
    file: 'shared/domain/settlement/batch.ts',
    from: 'net: pesewas(totals.net + line.net),',
    to: 'net: pesewas(totals.net + (isDebit ? line.net : 0)),',
    invariants: [24],
    needs: 'a reversal after settlement, and a run after it',
  },
  {
    name: 'reversal-after-settlement-forgotten',
    area: 'money',
    file: 'shared/store/debits/debit-item.ts',
    from: "return status === 'completed' || (status === 'reversed' && settledIn)",
    to: "return status === 'completed'",
    invariants: [27],
    needs: 'a reversal after settlement, and a run after it',
  },
  {
    ...pay,
    name: 'gross-paid-out',
    from: '    amount: paid,',
    to: '    amount: batch.totals?.gross ?? paid,',
    invariants: [24, 25, 26],
    needs: 'a batch with a fee, paid by a bank with an endpoint of its own',
  },
  {
    ...pay,
    name: 'payment-repeated-under-a-new-uuid',
    from: `pay({
    uuid,`,
    to: `pay({
    uuid: repeated ? (deps.runtime.newId() as typeof uuid) : uuid,`,
    invariants: [26],
    needs: 'a payment whose answer was lost, or that was under way when asked for',
  },
  {
    ...pay,
    name: 'paid-batch-processed-again',
    from: "if (batch.status === 'completed' || batch.status === 'failed') return new Refusal(5005)",
    to: "if (batch.status === 'failed') return new Refusal(5005)",
    invariants: [26],
    needs: 'a payment message that comes again after its batch was completed',
  },
  {
    name: 'batch-written-over',
    area: 'money',
    file: 'shared/store/settlement/batches.ts',
    from: "ConditionExpression: '#version = :previous',",
    to: "ConditionExpression: '#version >= :previous',",
    invariants: [26],
    needs: 'two workers at one batch at once',
  },
  {
    name: 'reversal-without-its-refund',
    area: 'money',
    file: 'functions/operator/manage-debit.ts',
    from: '[refundCreation(reversalRefund(next))]',
    to: '[]',
    invariants: [39],
    needs: 'a debit that is reversed',
  },
  {
    ...refund,
    name: 'refund-under-way-taken-as-made',
    from: `case 'underway':
      return
`,
    to: `case 'underway':
      return recordResult(refund, { kind: 'paid', bankReference: 'none' }, runtime)
`,
    invariants: [39],
    needs: 'a bank that takes its time for a refund',
  },
  {
    ...refund,
    name: 'refund-repeated-under-a-new-uuid',
    from: 'refundAtBank({ ...begun, repeated })',
    to: 'refundAtBank({ ...begun, uuid: runtime.newId() as typeof begun.uuid, repeated: false })',
    invariants: [39],
    needs: 'a refund whose reply was lost',
  },
]
