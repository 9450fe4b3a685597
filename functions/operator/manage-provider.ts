import type * as v from 'valibot'
import { defined } from '../../shared/domain/defined.ts'
import { DAILY_LIMIT, formatAmount } from '../../shared/domain/money.ts'
import { maskAccount, secretField } from '../../shared/domain/operator/change.ts'
import {
  dailyLimitAfter,
  type Provider,
  type ProviderId,
  payoutsHeldUntil,
  type RequestSigning,
  replaced,
} from '../../shared/domain/providers/provider.ts'
import { invalid, Refusal, unlessRefused } from '../../shared/domain/refusal.ts'
import { dayOf } from '../../shared/domain/time.ts'
import { type Author, noSuch, operatorHandler } from '../../shared/operator/handler.ts'
import { provider as noun } from '../../shared/operator/nouns/providers.ts'
import { SECRET_OVERLAP_SECONDS, updatedOr } from '../../shared/operator/options.ts'
import {
  feeScheduleAfter,
  settlementAccountAfter,
  settlementAccountView,
} from '../../shared/operator/settlement-options.ts'
import { environment, type Runtime, real } from '../../shared/runtime.ts'
import { findBank } from '../../shared/store/banks/banks.ts'
import { changeWrites } from '../../shared/store/operator/changes.ts'
import {
  changeProvider,
  findProvider,
  loadProviders,
} from '../../shared/store/providers/providers.ts'
import {
  openRequestSecrets,
  sealRequestSecret,
} from '../../shared/store/providers/request-secrets.ts'
import { feeScheduleView } from '../../shared/views/batch.ts'

type ProviderSettings = Omit<v.InferOutput<typeof noun.verbs.update.options>, 'provider'>

const applySettings = async (provider: Provider, settings: ProviderSettings, runtime: Runtime) => {
  const feeSchedule = feeScheduleAfter(provider.feeSchedule, settings)
  if (feeSchedule instanceof Refusal) return feeSchedule
  const settlementAccount = settlementAccountAfter(provider.settlementAccount, settings)
  if (settlementAccount instanceof Refusal) return settlementAccount
  return {
    id: provider.id,
    name: settings.name ?? provider.name,
    duplicates: settings.duplicates ?? provider.duplicates,
    status: settings.status ?? provider.status,
    ...dailyLimitAfter(
      provider,
      updatedOr(provider.dailyLimit, settings['daily-limit']),
      dayOf(runtime.now()),
    ),
    ...defined({
      allowedAddresses: updatedOr(provider.allowedAddresses, settings['allow-list']),
      requestSigning: await signingAfter(provider, settings['request-secret'], runtime),
      feeSchedule,
      settlementAccount,
      payoutsHeldUntil: environment.approvals
        ? payoutsHeldUntil(provider, settlementAccount, runtime.now())
        : provider.payoutsHeldUntil,
      requestLimits: provider.requestLimits,
    }),
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
  if (previous && (await openRequestSecrets(id, previous, at))[0] === secret) return previous
  const sealed = await sealRequestSecret(id, secret, runtime)
  return replaced(previous, { secret: sealed, at, graceSeconds: SECRET_OVERLAP_SECONDS.default })
}

const ifFuture = (until: string | undefined, now: Date): string | null =>
  until && now < new Date(until) ? until : null

const view = (provider: Provider, now: Date) => ({
  id: provider.id,
  name: provider.name,
  status: provider.status,
  daily_limit: provider.dailyLimit === undefined ? null : formatAmount(provider.dailyLimit),
  duplicates: provider.duplicates,
  allow_list: provider.allowedAddresses ?? null,
  signs_requests: provider.requestSigning !== undefined,
  previous_request_secret_until: ifFuture(provider.requestSigning?.previous?.until, now),
  fee_schedule: feeScheduleView(provider.feeSchedule),
  settlement_account: settlementAccountView(provider),
  payouts_held_until: ifFuture(provider.payoutsHeldUntil, now),
})

const fields = (provider: Provider, now: Date) => {
  const { id, signs_requests, settlement_account: account, ...others } = view(provider, now)
  const masked = account && { ...account, account_number: maskAccount(account.account_number) }
  return { ...others, settlement_account: masked }
}

const changeRecord =
  (id: ProviderId, author: Author, { now }: Runtime) =>
  (previous: Provider | undefined, next: Provider) => {
    const secret = secretField(previous?.requestSigning?.secret, next.requestSigning?.secret)
    return changeWrites(
      { ...author, target: id, provider: id },
      previous && { ...fields(previous, now()), request_secret: secret.previous },
      { ...fields(next, now()), request_secret: secret.next },
    )
  }

type ProviderStart = (previous: Provider | undefined) => Provider | Refusal

const existing: ProviderStart = (previous) => previous ?? noSuch('provider')

const absent =
  (
    id: ProviderId,
    { name, 'daily-limit': dailyLimit }: ProviderSettings & { name: string },
  ): ProviderStart =>
  (previous) =>
    previous
      ? new Refusal(1409, { details: 'this provider already exists' })
      : {
          id,
          name,
          status: 'active',
          ...defined({ dailyLimit: dailyLimit === null ? undefined : DAILY_LIMIT }),
          duplicates: 'return',
        }

const changeOf =
  (settings: ProviderSettings, start: ProviderStart, runtime: Runtime) =>
  async (previous: Provider | undefined) => {
    const provider = start(previous)
    if (provider instanceof Refusal) return provider
    const next = await applySettings(provider, settings, runtime)
    if (next instanceof Refusal) return next
    const bank = settings['settlement-bank']
    if (bank && !(await findBank(bank))) return invalid({ 'settlement-bank': ['no such bank'] })
    return next
  }

const save = async (
  id: ProviderId,
  settings: ProviderSettings,
  start: ProviderStart,
  author: Author,
  runtime: Runtime,
) => {
  const change = changeOf(settings, start, runtime)
  const provider = await changeProvider(id, change, changeRecord(id, author, runtime), runtime)
  return unlessRefused(provider, (saved) => view(saved, runtime.now()))
}

export const manageProvider = operatorHandler(noun, {
  create: ({ provider, ...settings }, author, runtime) =>
    save(provider, settings, absent(provider, settings), author, runtime),
  update: {
    run: ({ provider, ...settings }, author, runtime) =>
      save(provider, settings, existing, author, runtime),
    check: async ({ provider, ...settings }, _author, runtime) =>
      changeOf(settings, existing, runtime)(await findProvider(provider)),
  },
  show: async ({ provider: id }, { at }) =>
    unlessRefused((await findProvider(id)) ?? noSuch('provider'), (provider) => view(provider, at)),
  list: async (_options, { at }) => (await loadProviders()).map((provider) => view(provider, at)),
  disable: ({ provider }, author, runtime) =>
    save(provider, { status: 'suspended' }, existing, author, runtime),
  enable: ({ provider }, author, runtime) =>
    save(provider, { status: 'active' }, existing, author, runtime),
  'rotate-request-secret': async (options, author, runtime) => {
    const { provider: id, 'grace-seconds': graceSeconds = SECRET_OVERLAP_SECONDS.default } = options
    const secret = `rs_${Buffer.from(runtime.randomBytes(32)).toString('base64url')}`
    const sealed = await sealRequestSecret(id, secret, runtime)
    const rotation = { secret: sealed, at: runtime.now(), graceSeconds }
    const provider = await changeProvider(
      id,
      (previous) =>
        previous
          ? { ...previous, requestSigning: replaced(previous.requestSigning, rotation) }
          : noSuch('provider'),
      changeRecord(id, author, runtime),
      runtime,
    )
    if (provider instanceof Refusal) return provider
    const previousUntil = ifFuture(provider.requestSigning?.previous?.until, runtime.now())
    return { provider: id, request_secret: secret, previous_until: previousUntil }
  },
})

export const handler = manageProvider(real)
