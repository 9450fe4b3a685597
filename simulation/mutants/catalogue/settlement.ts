import { type Mutant, mutantsOf } from '../mutant.ts'

/** Lines, batches and payouts. */

export const settlement: readonly Mutant[] = [
  ...mutantsOf('money', 'shared/settlement/build.ts', [
    {
      name: 'today-settled-as-well',
      from: 'const before = startOf(date)',
      to: 'const before = runtime.now()',
      invariants: [28],
      needs: 'a debit completed between midnight and a later run of the same night',
    },
    {
      name: 'yesterday-settled-alone',
      from: '{ from: BEGINNING, before, pageSize: DEBITS_PER_READ }',
      to: '{ from: new Date(before.getTime() - 86_400_000), before, pageSize: DEBITS_PER_READ }',
      invariants: [22, 25, 28],
      needs: 'a day whose runs did not come, or came to nothing for a provider',
    },
    {
      name: 'reversed-debit-settled',
      from: `    if (stateAt(debit).updatedAt >= before) return []
    if (status === 'completed' && !settledIn) {`,
      to: `    if ((stateAt(debit).completedAt ?? before) >= before) return []
    if (!settledIn) {`,
      invariants: [23],
      needs: 'a reversal that the index does not show yet when a run reads it',
    },
  ]),
  ...mutantsOf('money', 'functions/jobs/open-settlement.ts', [
    {
      name: 'run-of-the-day-before',
      from: 'const date = dayOf(runtime.now())',
      to: 'const date = dayOf(new Date(runtime.now().getTime() - 86_400_000))',
      invariants: [22, 25, 27, 28],
      needs: 'completed debits and one night of runs after them',
    },
  ]),
  ...mutantsOf('money', 'shared/settlement/seal.ts', [
    {
      name: 'batch-summed-and-left-open',
      from: '  if (!batch.sealedAt) return { ...batch, sealedAt: now() }\n',
      to: '',
      invariants: [24, 25, 26],
      needs: 'a debit that the index shows only to a later run of the same night',
    },
  ]),
  ...mutantsOf('money', 'shared/store/settlement/lines.ts', [
    {
      name: 'line-whatever-became-of-its-debit',
      from: '`#status = :status AND #version = :version AND attribute_not_exists(${mark})`',
      to: "'#status = :status AND #version >= :version'",
      invariants: [22],
      needs: 'two runs of one provider and day at once, one of which seals before the other writes',
    },
    {
      name: 'line-before-its-mark',
      from: '  const failed = await transactWrites(writes, runtime)\n',
      to: `  const lines = writes.filter((_, index) => index === 0 || index % 2 === 1)
  const marks = writes.filter((_, index) => index > 0 && index % 2 === 0)
  const failedLines = await transactWrites(lines, runtime)
  const failed = failedLines.length > 0 ? failedLines : await transactWrites(marks, runtime)\n`,
      invariants: [22, 23],
      needs: 'completed debits and a night of runs',
    },
    {
      name: 'adjustment-marked-as-settlement',
      from: "line.type === 'debit' ? 'settledIn' : 'adjustedIn'",
      to: "'settledIn'",
      invariants: [27],
      needs: 'a reversal after settlement, and a run after it',
    },
  ]),
  ...mutantsOf('money', 'shared/domain/settlement/line.ts', [
    {
      name: 'adjustment-above-zero',
      from: 'net: pesewas(-original.net),',
      to: 'net: pesewas(original.net),',
      invariants: [27],
      needs: 'a reversal after settlement, and a run after it',
    },
    {
      name: 'adjustment-keeps-the-fee',
      from: `  fee: pesewas(-original.fee),
  net: pesewas(-original.net),`,
      to: `  fee: pesewas(0),
  net: pesewas(-original.gross),`,
      invariants: [27],
      needs: 'a reversal after settlement, and a run after it, of a debit with a fee',
    },
  ]),
  ...mutantsOf('money', 'shared/domain/settlement/batch.ts', [
    {
      name: 'net-without-adjustments',
      from: 'net: pesewas(totals.net + line.net),',
      to: 'net: pesewas(totals.net + (isDebit ? line.net : 0)),',
      invariants: [24],
      needs: 'a reversal after settlement, and a run after it',
    },
  ]),
  ...mutantsOf('money', 'shared/store/debits/debit-item.ts', [
    {
      name: 'reversal-after-settlement-forgotten',
      from: "return status === 'completed' || (status === 'reversed' && settledIn)",
      to: "return status === 'completed'",
      invariants: [27],
      needs: 'a reversal after settlement, and a run after it',
    },
  ]),
  ...mutantsOf('money', 'shared/settlement/pay.ts', [
    {
      name: 'gross-paid-out',
      from: '    amount: paid,',
      to: '    amount: batch.totals?.gross ?? paid,',
      invariants: [24, 25, 26],
      needs: 'a batch with a fee, paid by a bank with an endpoint of its own',
    },
    {
      name: 'payment-repeated-under-a-new-uuid',
      from: `pay({
    uuid,`,
      to: `pay({
    uuid: repeated ? (deps.runtime.newId() as typeof uuid) : uuid,`,
      invariants: [26],
      needs: 'a payment whose answer was lost, or that was under way when asked for',
    },
    {
      name: 'paid-batch-processed-again',
      from: "if (batch.status === 'completed' || batch.status === 'failed') return new Refusal(5005)",
      to: "if (batch.status === 'failed') return new Refusal(5005)",
      invariants: [26],
      needs: 'a payment message that comes again after its batch was completed',
    },
  ]),
  ...mutantsOf('money', 'shared/store/settlement/batches.ts', [
    {
      name: 'batch-written-over',
      from: 'putWrite(toBatchItem(next), hasVersion(previous.version))',
      to: "putWrite(toBatchItem(next), {\n    ...hasVersion(previous.version),\n    ConditionExpression: '#version >= :previous',\n  })",
      invariants: [26],
      needs: 'two workers at one batch at once',
    },
  ]),
  ...mutantsOf('money', 'functions/operator/manage-debit.ts', [
    {
      name: 'reversal-without-its-refund',
      from: '[refundCreation(reversalRefund(next))]',
      to: '[]',
      invariants: [39],
      needs: 'a debit that is reversed',
    },
  ]),
  ...mutantsOf('money', 'functions/jobs/refund-customer.ts', [
    {
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
      name: 'refund-repeated-under-a-new-uuid',
      from: 'refundAtBank({ ...begun, repeated })',
      to: 'refundAtBank({ ...begun, uuid: runtime.newId() as typeof begun.uuid, repeated: false })',
      invariants: [39],
      needs: 'a refund whose reply was lost',
    },
  ]),
]
