import type * as v from 'valibot'
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
import { invalid, Refusal } from '../../shared/domain/refusal.ts'
import { dayOf } from '../../shared/domain/settlement/batch.ts'
import { type Author, operatorHandler } from '../../shared/operator/handler.ts'
import { provider as noun } from '../../shared/operator/nouns/provider.ts'
import { defined, SECRET_OVERLAP_SECONDS, updatedOr } from '../../shared/operator/options.ts'
import {
  feeScheduleAfter,
  settlementAccountAfter,
  settlementAccountView,
} from '../../shared/operator/settlement-options.ts'
import { environment, real } from '../../shared/runtime.ts'
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

type Settings = Omit<v.InferOutput<typeof noun.verbs.update.options>, 'provider'>

const changed = async (provider: Provider, settings: Settings): Promise<Provider | Refusal> => {
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
      dayOf(real.now()),
    ),
    ...defined({
      allowedAddresses: updatedOr(provider.allowedAddresses, settings['allow-list']),
      requestSigning: await signingAfter(provider, settings['request-secret']),
      feeSchedule,
      settlementAccount,
      payoutsHeldUntil: environment.approvals
        ? payoutsHeldUntil(provider, settlementAccount, real.now())
        : provider.payoutsHeldUntil,
      requestLimits: provider.requestLimits,
    }),
  }
}

/** The same secret again changes nothing; another one overlaps with it. */
const signingAfter = async (
  { id, requestSigning: before }: Provider,
  given: string | null | undefined,
): Promise<RequestSigning | undefined> => {
  if (given === undefined) return before
  if (given === null) return undefined
  const at = real.now()
  if (before && (await openRequestSecrets(id, before, at))[0] === given) return before
  const secret = await sealRequestSecret(id, given)
  return replaced(before, { secret, at, graceSeconds: SECRET_OVERLAP_SECONDS.otherwise })
}

const previousUntil = ({ requestSigning }: Provider): string | null => {
  const { until } = requestSigning?.previous ?? {}
  return until && real.now() < new Date(until) ? until : null
}

const heldUntil = ({ payoutsHeldUntil: until }: Provider): string | null =>
  until && real.now() < new Date(until) ? until : null

const view = (provider: Provider) => ({
  id: provider.id,
  name: provider.name,
  status: provider.status,
  daily_limit: provider.dailyLimit === undefined ? null : formatAmount(provider.dailyLimit),
  duplicates: provider.duplicates,
  allow_list: provider.allowedAddresses ?? null,
  signs_requests: provider.requestSigning !== undefined,
  previous_request_secret_until: previousUntil(provider),
  fee_schedule: feeScheduleView(provider.feeSchedule),
  settlement_account: settlementAccountView(provider),
  payouts_held_until: heldUntil(provider),
})

/** What the record of a change shows: the view, without the digits of the account. */
const fields = (provider: Provider) => {
  const { id, signs_requests, settlement_account: account, ...others } = view(provider)
  const masked = account && { ...account, account_number: maskAccount(account.account_number) }
  return { ...others, settlement_account: masked }
}

const recordsChange =
  (id: ProviderId, author: Author) => (before: Provider | undefined, after: Provider) => {
    const secret = secretField(before?.requestSigning?.secret, after.requestSigning?.secret)
    return changeWrites(
      { ...author, target: id, provider: id },
      before && { ...fields(before), request_secret: secret.before },
      { ...fields(after), request_secret: secret.after },
    )
  }

const fresh = (id: ProviderId, name: string, isLimited: boolean): Provider => ({
  id,
  name,
  status: 'active',
  ...(isLimited ? { dailyLimit: DAILY_LIMIT } : {}),
  duplicates: 'return',
})

const newSecret = (): string => `rs_${Buffer.from(real.randomBytes(32)).toString('base64url')}`

const unknown = () => new Refusal(1404, { details: 'no such provider' })

const taken = () => new Refusal(1409, { details: 'this provider already exists' })

type Start = (before: Provider | undefined) => Provider | Refusal

const existing: Start = (before) => before ?? unknown()

const changing = (settings: Settings, start: Start) => async (before: Provider | undefined) => {
  const begun = start(before)
  if (begun instanceof Refusal) return begun
  const after = await changed(begun, settings)
  if (after instanceof Refusal) return after
  const bank = settings['settlement-bank']
  if (bank && !(await findBank(bank))) return invalid({ 'settlement-bank': ['no such bank'] })
  return after
}

const save = async (id: ProviderId, settings: Settings, start: Start, author: Author) => {
  const provider = await changeProvider(id, changing(settings, start), recordsChange(id, author))
  return provider instanceof Refusal ? provider : view(provider)
}

export const handler = operatorHandler(
  noun,
  {
    create: ({ provider, ...rest }, author) =>
      save(
        provider,
        rest,
        (before) => (before ? taken() : fresh(provider, rest.name, rest['daily-limit'] !== null)),
        author,
      ),
    update: ({ provider, ...rest }, author) => save(provider, rest, existing, author),
    show: async ({ provider }) => {
      const found = await findProvider(provider)
      return found ? view(found) : unknown()
    },
    list: async () => (await loadProviders()).map(view),
    disable: ({ provider }, author) => save(provider, { status: 'suspended' }, existing, author),
    enable: ({ provider }, author) => save(provider, { status: 'active' }, existing, author),
    'rotate-request-secret': async ({ provider, 'grace-seconds': given }, author) => {
      const secret = newSecret()
      const graceSeconds = given ?? SECRET_OVERLAP_SECONDS.otherwise
      const rotation = {
        secret: await sealRequestSecret(provider, secret),
        at: real.now(),
        graceSeconds,
      }
      const changed = await changeProvider(
        provider,
        (before) =>
          before
            ? { ...before, requestSigning: replaced(before.requestSigning, rotation) }
            : unknown(),
        recordsChange(provider, author),
      )
      if (changed instanceof Refusal) return changed
      return { provider, request_secret: secret, previous_until: previousUntil(changed) }
    },
  },
  real,
  {
    update: async ({ provider, ...rest }) => changing(rest, existing)(await findProvider(provider)),
  },
)
