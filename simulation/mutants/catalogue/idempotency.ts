import { type Mutant, mutantsOf } from '../mutant.ts'

/** Requests that arrive twice, get no response, or run concurrently. */

export const idempotency: readonly Mutant[] = [
  ...mutantsOf('idempotency', 'shared/store/debits/charges.ts', [
    {
      name: 'reference-claimed-over-and-over',
      from: `        request: sha256(newDebit.fingerprint),
      },
      isNew,`,
      to: `        request: sha256(newDebit.fingerprint),
      },`,
      invariants: [1, 3, 10],
      needs: 'a charge that is sent twice',
    },
    {
      name: 'other-charge-under-the-same-reference',
      from: 'sameRequest: claim.request === sha256(newDebit.fingerprint),',
      to: 'sameRequest: true,',
      invariants: [1, 3],
      needs: 'another charge under a partner_reference that was used',
    },
    {
      name: 'repeat-counted-against-the-limit',
      from: `  const claim = await findClaim(newDebit.debit)
  if (claim) return resultOfClaim(newDebit, claim)
  if (failed[DEBIT] || failed[UUID])`,
      to: `  const claim = failed[DAY_TOTAL] ? undefined : await findClaim(newDebit.debit)
  if (claim) return resultOfClaim(newDebit, claim)
  if (failed[DEBIT] || failed[UUID])`,
      invariants: [1, 2, 3],
      needs: 'a charge that is sent twice as the daily limit is all but used',
    },
    {
      name: 'unknown-write-taken-for-done',
      from: '  if (!claim) throw error\n',
      to: "  if (!claim) return { kind: 'created', debit: newDebit.debit }\n",
      invariants: [1],
      needs: 'a transaction that was not done and whose call failed',
    },
  ]),
  ...mutantsOf('idempotency', 'functions/provider/charge.ts', [
    {
      name: 'repeat-answered-with-a-new-reference',
      from: `      return replay(result, call)
    case 'collision'`,
      to: `      return { data: chargeView(debit), headers: { 'Idempotent-Replayed': 'true' } }
    case 'collision'`,
      invariants: [1],
      needs: 'a charge that is sent twice',
    },
    {
      name: 'replay-refused-after-the-failure',
      from: "if (!sameRequest || caller.provider.duplicates === 'reject') {",
      to: "if (!sameRequest || debit.status === 'failed' || caller.provider.duplicates === 'reject') {",
      invariants: [3],
      needs: 'a charge that is sent again after its debit failed',
    },
    {
      name: 'reference-of-another-day',
      from: 'newReference(environment.referencePrefix, at, runtime.random())',
      to: `newReference(
      environment.referencePrefix,
      new Date(at.getTime() + 3_600_000),
      runtime.random(),
    )`,
      invariants: [9],
      needs: 'a charge in the last hour of a day',
    },
  ]),
  ...mutantsOf('idempotency', 'shared/domain/debits/lifecycle.ts', [
    {
      name: 'same-status-refused',
      from: "  if (from === to) return 'unchanged'\n",
      to: '',
      invariants: [7],
      needs: 'a bank that reports the same twice',
    },
  ]),
  ...mutantsOf('idempotency', 'shared/domain/debits/debit.ts', [
    {
      name: 'same-status-written-again',
      from: `    case 'unchanged':
      return debit`,
      to: `    case 'unchanged':
      return { ...debit, version: debit.version + 1 }`,
      invariants: [6, 7, 20],
      needs: 'a bank that reports the same twice',
    },
  ]),
  ...mutantsOf('idempotency', 'shared/banks/idempotent-post.ts', [
    {
      name: 'submission-under-a-key-of-its-own',
      from: "headers: { 'x-idempotency-key': uuid },",
      to: "headers: { 'x-idempotency-key': `${uuid}-${config.now().getTime()}` },",
      invariants: [11],
      needs: 'a submission whose answer was lost, or that two workers make',
    },
  ]),
  ...mutantsOf('idempotency', 'shared/views/webhook-payload.ts', [
    {
      name: 'event-id-drawn',
      from: 'const id = eventId({ reference: state.reference, n, generation: debit.history[n]?.generation })',
      to: 'const id = `evt_${Math.floor(Math.random() * 1e15)}`',
      invariants: [13],
      needs: 'an event that is tried twice, or whose body is checked against its headers',
    },
  ]),
  ...mutantsOf('idempotency', 'shared/domain/webhooks/attempt.ts', [
    {
      name: 'attempts-under-one-id',
      from: "`dlv_${deliveryId(event)}_${Buffer.from(random).toString('hex')}`",
      to: '`dlv_${deliveryId(event)}_${Buffer.alloc(random.length).toString("hex")}`',
      invariants: [13],
      needs: 'a receiver that fails once',
    },
  ]),
  ...mutantsOf('idempotency', 'shared/store/webhooks/deliveries.ts', [
    {
      name: 'first-record-written-over',
      from: 'putIf(toDeliveryItem(next), previous ? unchanged(previous, next) : isNew)',
      to: 'putIf(toDeliveryItem(next), previous ? unchanged(previous, next) : {})',
      invariants: [13, 15, 16, 17],
      needs: 'two workers at a first attempt at once, with different answers',
    },
  ]),
  ...mutantsOf('idempotency', 'shared/api/bank-report.ts', [
    {
      name: 'late-completion-forgotten',
      from: '        await recordRejection(current, { kind, refusal: result, body, cause, status })\n',
      to: '',
      invariants: [31],
      needs: 'a bank that reports a completion after the debit failed',
    },
    {
      name: 'only-late-completions-are-recorded',
      from: 'if (result instanceof Refusal) {\n        const { status }',
      to: "if (result instanceof Refusal && input.status !== 'completed') return result\n      if (result instanceof Refusal) {\n        const { status }",
      invariants: [31],
      needs: 'a bank that reports failed after completed',
    },
  ]),
  ...mutantsOf('idempotency', 'shared/store/keys.ts', [
    {
      name: 'exceptions-of-a-debit-in-one-record',
      from: 'sk: `EXCEPTION#${requestId}`,',
      to: "sk: 'EXCEPTION#1',",
      invariants: [31],
      needs: 'a bank that reports a late completion twice',
    },
  ]),
]
