import type * as v from 'valibot'
import { DAILY_LIMIT, formatAmount } from '../../shared/domain/money.ts'
import { maskAccount, secretField } from '../../shared/domain/operator/change.ts'
import {
  dailyLimitAfter,
  type Partner,
  type PartnerId,
  payoutsHeldUntil,
  type RequestSigning,
  replaced,
} from '../../shared/domain/providers/provider.ts'
import { invalid, Refusal } from '../../shared/domain/refusal.ts'
import { dayOf } from '../../shared/domain/settlement/batch.ts'
import { type Author, operatorHandler } from '../../shared/operator/handler.ts'
import { provider as noun } from '../../shared/operator/nouns/provider.ts'
import { kept, present, SECRET_OVERLAP_SECONDS } from '../../shared/operator/options.ts'
import {
  feeScheduleAfter,
  settlementAccountAfter,
  settlementAccountView,
} from '../../shared/operator/settlement-options.ts'
import { environment, real } from '../../shared/runtime.ts'
import { findBank } from '../../shared/store/banks/banks.ts'
import { changeWrites } from '../../shared/store/operator/changes.ts'
import { changePartner, findPartner, loadPartners } from '../../shared/store/providers/providers.ts'
import {
  openRequestSecrets,
  sealRequestSecret,
} from '../../shared/store/providers/request-secrets.ts'
import { feeScheduleView } from '../../shared/views/batch.ts'

type Settings = Omit<v.InferOutput<typeof noun.verbs.update.options>, 'provider'>

const changed = async (partner: Partner, settings: Settings): Promise<Partner | Refusal> => {
  const feeSchedule = feeScheduleAfter(partner.feeSchedule, settings)
  if (feeSchedule instanceof Refusal) return feeSchedule
  const settlementAccount = settlementAccountAfter(partner.settlementAccount, settings)
  if (settlementAccount instanceof Refusal) return settlementAccount
  return {
    id: partner.id,
    name: settings.name ?? partner.name,
    duplicates: settings.duplicates ?? partner.duplicates,
    status: settings.status ?? partner.status,
    ...dailyLimitAfter(
      partner,
      kept(partner.dailyLimit, settings['daily-limit']),
      dayOf(real.now()),
    ),
    ...present({
      allowedAddresses: kept(partner.allowedAddresses, settings['allow-list']),
      requestSigning: await signingAfter(partner, settings['request-secret']),
      feeSchedule,
      settlementAccount,
      payoutsHeldUntil: environment.approvals
        ? payoutsHeldUntil(partner, settlementAccount, real.now())
        : partner.payoutsHeldUntil,
      requestLimits: partner.requestLimits,
    }),
  }
}

/** The same secret again changes nothing; another one overlaps with it. */
const signingAfter = async (
  { id, requestSigning: before }: Partner,
  given: string | null | undefined,
): Promise<RequestSigning | undefined> => {
  if (given === undefined) return before
  if (given === null) return undefined
  const at = real.now()
  if (before && (await openRequestSecrets(id, before, at))[0] === given) return before
  const secret = await sealRequestSecret(id, given)
  return replaced(before, { secret, at, graceSeconds: SECRET_OVERLAP_SECONDS.otherwise })
}

const previousUntil = ({ requestSigning }: Partner): string | null => {
  const { until } = requestSigning?.previous ?? {}
  return until && real.now() < new Date(until) ? until : null
}

const heldUntil = ({ payoutsHeldUntil: until }: Partner): string | null =>
  until && real.now() < new Date(until) ? until : null

const view = (partner: Partner) => ({
  id: partner.id,
  name: partner.name,
  status: partner.status,
  daily_limit: partner.dailyLimit === undefined ? null : formatAmount(partner.dailyLimit),
  duplicates: partner.duplicates,
  allow_list: partner.allowedAddresses ?? null,
  signs_requests: partner.requestSigning !== undefined,
  previous_request_secret_until: previousUntil(partner),
  fee_schedule: feeScheduleView(partner.feeSchedule),
  settlement_account: settlementAccountView(partner),
  payouts_held_until: heldUntil(partner),
})

/** What the record of a change shows: the view, without the digits of the account. */
const fields = (partner: Partner) => {
  const { id, signs_requests, settlement_account: account, ...others } = view(partner)
  const masked = account && { ...account, account_number: maskAccount(account.account_number) }
  return { ...others, settlement_account: masked }
}

const recordsChange =
  (id: PartnerId, author: Author) => (before: Partner | undefined, after: Partner) => {
    const secret = secretField(before?.requestSigning?.secret, after.requestSigning?.secret)
    return changeWrites(
      { ...author, target: id, provider: id },
      before && { ...fields(before), request_secret: secret.before },
      { ...fields(after), request_secret: secret.after },
    )
  }

const fresh = (id: PartnerId, name: string, isLimited: boolean): Partner => ({
  id,
  name,
  status: 'active',
  ...(isLimited ? { dailyLimit: DAILY_LIMIT } : {}),
  duplicates: 'return',
})

const newSecret = (): string => `rs_${Buffer.from(real.randomBytes(32)).toString('base64url')}`

const unknown = () => new Refusal(1404, { details: 'no such provider' })

const taken = () => new Refusal(1409, { details: 'this provider exists already' })

type Start = (before: Partner | undefined) => Partner | Refusal

const existing: Start = (before) => before ?? unknown()

const changing = (settings: Settings, start: Start) => async (before: Partner | undefined) => {
  const begun = start(before)
  if (begun instanceof Refusal) return begun
  const after = await changed(begun, settings)
  if (after instanceof Refusal) return after
  const bank = settings['settlement-bank']
  if (bank && !(await findBank(bank))) return invalid({ 'settlement-bank': ['no such bank'] })
  return after
}

const save = async (id: PartnerId, settings: Settings, start: Start, author: Author) => {
  const partner = await changePartner(id, changing(settings, start), recordsChange(id, author))
  return partner instanceof Refusal ? partner : view(partner)
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
      const partner = await findPartner(provider)
      return partner ? view(partner) : unknown()
    },
    list: async () => (await loadPartners()).map(view),
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
      const partner = await changePartner(
        provider,
        (before) =>
          before
            ? { ...before, requestSigning: replaced(before.requestSigning, rotation) }
            : unknown(),
        recordsChange(provider, author),
      )
      if (partner instanceof Refusal) return partner
      return { provider, request_secret: secret, previous_until: previousUntil(partner) }
    },
  },
  real,
  {
    update: async ({ provider, ...rest }) => changing(rest, existing)(await findPartner(provider)),
  },
)
