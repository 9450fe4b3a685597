import type * as v from 'valibot'
import { maskAccount } from '../../shared/domain/banks/bank.ts'
import { type Complete, defined } from '../../shared/domain/complete.ts'
import { DAILY_LIMIT, pesewas } from '../../shared/domain/money.ts'
import { type CallObject, callObject } from '../../shared/domain/operator/approval.ts'
import { secretField } from '../../shared/domain/operator/change.ts'
import {
  dailyLimitAfter,
  type PaidProvider,
  type Provider,
  type ProviderId,
  payoutsHeldUntil,
  type RequestSigning,
  replaced,
} from '../../shared/domain/providers/provider.ts'
import { invalid, Refusal, unlessRefused } from '../../shared/domain/refusal.ts'
import { type Batch, payoutOf } from '../../shared/domain/settlement/batch.ts'
import { dayOf } from '../../shared/domain/time.ts'
import {
  type ApprovalCheck,
  type Author,
  noSuch,
  objectToChange,
  operatorHandler,
} from '../../shared/operator/handler.ts'
import { provider as noun } from '../../shared/operator/nouns/providers.ts'
import { openWith } from '../../shared/operator/open-with.ts'
import { SECRET_OVERLAP_SECONDS, updatedOr } from '../../shared/operator/options.ts'
import {
  feeScheduleAfter,
  settlementAccountAfter,
} from '../../shared/operator/settlement-options.ts'
import { environment, type Runtime, real } from '../../shared/runtime.ts'
import { findBank } from '../../shared/store/banks/banks.ts'
import { changeWrites } from '../../shared/store/operator/changes.ts'
import {
  changePaidProvider,
  findPaidProvider,
  findProvider,
  loadPaidProviders,
} from '../../shared/store/providers/providers.ts'
import {
  openRequestSecret,
  sealRequestSecret,
} from '../../shared/store/providers/request-secrets.ts'
import { findBatches, listBatchTimes } from '../../shared/store/settlement/batches.ts'
import { requestSecretView, providerView as view } from '../../shared/views/operator/provider.ts'

type ProviderOptions = v.InferOutput<typeof noun.verbs.update.options>

const applySettings = async (
  provider: PaidProvider,
  settings: ProviderOptions,
  runtime: Runtime,
) => {
  const feeSchedule = feeScheduleAfter(provider.feeSchedule, settings)
  if (feeSchedule instanceof Refusal) return feeSchedule
  const settlementAccount = settlementAccountAfter(provider.settlementAccount, settings)
  const next = defined<Complete<Provider>>({
    // With the members of a later release, which the type does not name.
    ...(provider as object),
    id: provider.id,
    name: settings.name ?? provider.name,
    duplicates: settings.duplicates ?? provider.duplicates,
    status: settings.status ?? provider.status,
    ...dailyLimitAfter(
      provider,
      updatedOr(provider.dailyLimit, settings['daily-limit']),
      dayOf(runtime.now()),
    ),
    allowedAddresses: updatedOr(provider.allowedAddresses, settings['allow-list']),
    requestSigning: await signingAfter(provider, settings['request-secret'], runtime),
    feeSchedule,
    requestLimits: provider.requestLimits,
    reversals: settings.reversals ?? provider.reversals,
  })
  return {
    ...next,
    settlementAccount,
    payoutsHeldUntil: environment.requiresApprovals
      ? payoutsHeldUntil(provider, settlementAccount, runtime.now())
      : provider.payoutsHeldUntil,
  }
}

/** Keeps an unchanged secret; a new one overlaps with the previous one. */
const signingAfter = async (
  { id, requestSigning: previous }: Provider,
  secret: string | null | undefined,
  runtime: Runtime,
): Promise<RequestSigning | undefined> => {
  if (secret === undefined) return previous
  if (secret === null) return undefined
  const at = runtime.now()
  const current = previous && (await openRequestSecret(id, previous.secret, at))
  if (previous && current === secret) return previous
  const sealed = await sealRequestSecret(id, secret, runtime)
  const rotation = { secret: sealed, at, graceSeconds: SECRET_OVERLAP_SECONDS.default }
  return replaced(current ? previous : undefined, rotation)
}

/** Rotates the secret. One that cannot be opened has no overlap. */
const rotated = async (
  provider: PaidProvider | undefined,
  rotation: Parameters<typeof replaced>[1],
): Promise<PaidProvider | Refusal> => {
  if (!provider) return noSuch('provider')
  const { id, requestSigning } = provider
  const isReadable =
    requestSigning && (await openRequestSecret(id, requestSigning.secret, rotation.at))
  const current = isReadable ? requestSigning : undefined
  return { ...provider, requestSigning: replaced(current, rotation) }
}

/** Numbers with the same last digits differ in the record too. */
const maskedAfter = (number: string, previous: string | undefined): string => {
  const [masked, before] = [maskAccount(number), previous && maskAccount(previous)]
  return number !== previous && masked === before ? `${masked} (another number)` : masked
}

const fields = (provider: PaidProvider, now: Date, previous?: PaidProvider) => {
  const { id, signs_requests, settlement_account: account, ...others } = view(provider, now)
  const before = previous?.settlementAccount?.accountNumber
  const account_number = account && maskedAfter(account.account_number, before)
  return { ...others, settlement_account: account && { ...account, account_number } }
}

const changeRecord =
  (id: ProviderId, author: Author, { now }: Runtime) =>
  (previous: PaidProvider | undefined, next: PaidProvider) => {
    const secret = secretField(previous?.requestSigning?.secret, next.requestSigning?.secret)
    return changeWrites(
      { ...author, target: id, provider: id },
      previous && { ...fields(previous, now()), request_secret: secret.previous },
      { ...fields(next, now(), previous), request_secret: secret.next },
    )
  }

/** @param created the provider before its settings, for `create` */
const changeOf =
  (settings: ProviderOptions, runtime: Runtime, created?: PaidProvider) =>
  async (stored: PaidProvider | undefined) => {
    const provider = objectToChange('provider', stored, created)
    if (provider instanceof Refusal) return provider
    const next = await applySettings(provider, settings, runtime)
    if (next instanceof Refusal) return next
    const bank = settings['settlement-bank']
    if (bank && !(await findBank(bank))) return invalid({ 'settlement-bank': ['no such bank'] })
    return next
  }

type Saving = { created?: PaidProvider; checkApproval?: ApprovalCheck }

const save = async (
  options: ProviderOptions,
  author: Author,
  runtime: Runtime,
  { created, checkApproval }: Saving = {},
) => {
  const { provider: id } = options
  const changed = changeOf(options, runtime, created)
  const change = async (stored: PaidProvider | undefined) =>
    (await checkApproval?.()) ?? changed(stored)
  const provider = await changePaidProvider(id, change, changeRecord(id, author, runtime), runtime)
  return unlessRefused(provider, (saved) => view(saved, runtime.now()))
}

type NewProviderOptions = v.InferOutput<typeof noun.verbs.create.options>

const newProvider = (options: NewProviderOptions): PaidProvider => ({
  id: options.provider,
  name: options.name,
  status: 'active',
  ...(options['daily-limit'] !== null && { dailyLimit: DAILY_LIMIT }),
  duplicates: 'return',
  settlementAccount: undefined,
  payoutsHeldUntil: undefined,
})

/** Returns the batches of a suspended provider whose payouts have not begun. */
const heldPayouts = async (id: ProviderId): Promise<Batch[]> => {
  if ((await findProvider(id))?.status !== 'suspended') return []
  const unpaid = (await listBatchTimes(id)).filter(({ completedAt }) => completedAt === null)
  const batches = await findBatches(unpaid.map((batch) => batch.id))
  return batches.filter((batch) => payoutOf(batch) === 'begins' && (batch.totals?.net ?? 1) > 0)
}

/** Returns the account that a change sets, and the nets of the payouts that it releases. */
const objectOf = async (next: PaidProvider, settings: ProviderOptions): Promise<CallObject> => {
  const held = settings.status === 'active' ? await heldPayouts(next.id) : []
  const sum = pesewas(held.reduce((total, { totals }) => total + (totals?.net ?? 0), 0))
  const isPaid = held.length > 0 || settings['settlement-bank'] !== undefined
  return callObject({
    provider: next.id,
    ...(held.length > 0 && { amount: sum }),
    ...(isPaid && { account: next.settlementAccount }),
  })
}

const check = async (options: ProviderOptions, runtime: Runtime, created?: PaidProvider) => {
  const stored = await findPaidProvider(options.provider)
  const next = await changeOf(options, runtime, created)(stored)
  return next instanceof Refusal ? next : objectOf(next, options)
}

export const manageProvider = operatorHandler(noun, {
  create: {
    run: (options, author, runtime) =>
      save(options, author, runtime, { created: newProvider(options) }),
    check: (options, _author, runtime) => check(options, runtime, newProvider(options)),
  },
  update: {
    run: (options, author, runtime) => save(options, author, runtime),
    check: (options, _author, runtime) => check(options, runtime),
  },
  show: async ({ provider: id }, { at }) =>
    unlessRefused((await findPaidProvider(id)) ?? noSuch('provider'), (provider) =>
      view(provider, at),
    ),
  list: async (_options, { at }) =>
    (await loadPaidProviders()).map((provider) => view(provider, at)),
  disable: async ({ provider }, author, runtime) => {
    const disabled = await save({ provider, status: 'suspended' }, author, runtime)
    if (disabled instanceof Refusal) return disabled
    return { ...disabled, open: await openWith(provider, runtime.now()) }
  },
  enable: {
    run: ({ provider }, author, runtime, checkApproval) =>
      save({ provider, status: 'active' }, author, runtime, { checkApproval }),
    check: ({ provider }, _author, runtime) => check({ provider, status: 'active' }, runtime),
    needsApproval: async ({ provider }) => (await heldPayouts(provider)).length > 0,
  },
  'rotate-request-secret': async (options, author, runtime) => {
    const { provider: id, 'grace-seconds': graceSeconds = SECRET_OVERLAP_SECONDS.default } = options
    const secret = `rs_${Buffer.from(runtime.randomBytes(32)).toString('base64url')}`
    const sealed = await sealRequestSecret(id, secret, runtime)
    const rotation = { secret: sealed, at: runtime.now(), graceSeconds }
    const provider = await changePaidProvider(
      id,
      (previous) => rotated(previous, rotation),
      changeRecord(id, author, runtime),
      runtime,
    )
    if (provider instanceof Refusal) return provider
    return requestSecretView(provider, secret, runtime.now())
  },
})

export const handler = manageProvider(real)
