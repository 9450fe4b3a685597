import { type Mutant, mutantsOf } from '../mutant.ts'

/** Amounts, the daily limit, and fees. */

export const money: readonly Mutant[] = [
  ...mutantsOf('money', 'shared/store/debits/charges.ts', [
    {
      name: 'limit-forgets-the-new-amount',
      from: "':room': dailyLimit - facts.amount }",
      to: "':room': dailyLimit }",
      invariants: [20],
      needs: 'charges of a provider whose daily limit is all but used',
    },
    {
      name: 'first-charge-of-a-day-without-limit',
      from: `  amount <= dailyLimit
    ? 'attribute_not_exists(amountTotal) OR amountTotal <= :room'
    : 'amountTotal <= :room'`,
      to: "  'attribute_not_exists(amountTotal) OR amountTotal <= :room'",
      invariants: [20],
      needs: 'a first charge of the day that is over the whole daily limit',
    },
    {
      name: 'charge-counted-outside-its-transaction',
      from: `    await withConflictRetries(() => table.send(new TransactWriteCommand(input)), runtime)`,
      to: `    await withConflictRetries(async () => {
      const counted = dayTotalWrite(newDebit)
      if (counted.length > 0) {
        await table.send(new TransactWriteCommand({ TransactItems: counted }))
      }
      const TransactItems = creationWrites({ ...newDebit, dailyLimit: undefined })
      await table.send(new TransactWriteCommand({ TransactItems }))
    }, runtime)`,
      invariants: [20, 21],
      needs: 'a repeated charge, a conflict or a death between two writes, with a daily limit',
    },
  ]),
  ...mutantsOf('money', 'shared/store/debits/transitions.ts', [
    {
      name: 'instant-rejection-keeps-its-share-of-the-day',
      from: "if (next.status === 'failed' && countedOn !== undefined) {",
      to: "if (previous.status === 'processing' && next.status === 'failed' && countedOn !== undefined) {",
      invariants: [20, 21],
      needs: 'debits that fail straight from pending, of a provider with a daily limit',
    },
    {
      name: 'given-back-to-the-day-of-the-failure',
      from: 'writeWithDayTotal(update, next.facts, countedOn, others)',
      to: `writeWithDayTotal(
      update,
      next.facts,
      (next.history.at(-1)?.at ?? new Date(0)).toISOString().slice(0, 10),
      others,
    )`,
      invariants: [20, 21],
      needs: 'a debit charged before midnight that fails after it, with a daily limit',
    },
    {
      name: 'given-back-beside-the-move',
      from: `    const TransactItems = [{ Update: update }, decrement, ...others]
    await table.send(new TransactWriteCommand({ TransactItems }))`,
      to: `    await table.send(new UpdateCommand(decrement.Update))
    await table.send(new UpdateCommand(update))`,
      invariants: [20],
      needs: 'a failure that loses a race or is cut off between two writes, with a daily limit',
    },
  ]),
  ...mutantsOf('money', 'shared/domain/money.ts', [
    {
      name: 'amount-through-a-float',
      from: "return Number(`${whole}${cents.padEnd(2, '0')}`)",
      to: 'return Math.floor(Number(text) * 100)',
      invariants: [1, 3, 20, 29, 30],
      needs: 'amounts with uneven pesewas, like 19.99',
    },
  ]),
  ...mutantsOf('money', 'shared/domain/settlement/fee.ts', [
    {
      name: 'half-a-pesewa-goes-up',
      from: 'return toSnapshot(transformScale(part, GHS.exponent, halfEven)).amount',
      to: 'return Math.round((gross * basisPoints) / 10_000)',
      invariants: [29],
      needs:
        'a settled amount whose share ends in half a pesewa above an even one, like 3.00 at 1.5 %',
    },
    {
      name: 'part-of-a-pesewa-dropped',
      from: 'return toSnapshot(transformScale(part, GHS.exponent, halfEven)).amount',
      to: 'return Math.floor((gross * basisPoints) / 10_000)',
      invariants: [29],
      needs: 'settled amounts of a provider with a share in basis points',
    },
    {
      name: 'fee-taken-of-the-net',
      from: "typeof by === 'number' ? by : scheduled(gross, by)",
      to: "typeof by === 'number' ? by : scheduled(pesewas(gross - scheduled(gross, by)), by)",
      invariants: [29],
      needs: 'settled amounts of a provider with a share in basis points',
    },
    {
      name: 'fixed-part-outside-the-bounds',
      from: 'Math.min(Math.max(share(gross, basisPoints) + fixed, minimum), maximum)',
      to: 'Math.min(Math.max(share(gross, basisPoints), minimum), maximum) + fixed',
      invariants: [29],
      needs: 'a schedule with a fixed part and a bound that amounts meet',
    },
  ]),
  ...mutantsOf('money', 'shared/domain/settlement/line.ts', [
    {
      name: 'schedule-before-the-fee-of-the-bank',
      from: '...split(amount, fee ?? schedule ?? undefined),',
      to: '...split(amount, schedule ?? fee ?? undefined),',
      invariants: [29],
      needs: 'a bank that reports a fee, for a provider with a schedule',
    },
  ]),
]
