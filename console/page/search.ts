import { linkTo } from './place.ts'

type Known = {
  providers: readonly { id: string; name: string }[]
  banks: readonly { identifier: string; name: string }[]
}

/** Writes a Ghanaian number as the service does; undefined: it is no phone number. */
export const phoneIn = (text: string): string | undefined => {
  const digits = text.replaceAll(/[\s()-]/g, '')
  const [, number] = /^(?:\+?233|0)([0-9]{9})$/.exec(digits) ?? []
  return number && `+233${number}`
}

/** Returns the place of the debits with this reference of their provider. */
export const partnerLink = (text: string): string =>
  linkTo('debits', '', { 'partner-reference': text })

/** Returns the place of a search by the form of its text: an object, or debits that the service finds. */
export const searchLink = (entered: string, { providers, banks }: Known): string => {
  const text = entered.trim()
  const upper = text.toUpperCase()
  const lower = text.toLowerCase()
  if (/^STL-\d{8}-\w{6}$/.test(upper)) return linkTo('batch', upper)
  if (/^[A-Z0-9]{2,8}-\d{8}-\w{6}$/.test(upper)) return linkTo('debit', upper)
  if (/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(lower)) {
    return linkTo('debits', '', { uuid: lower })
  }
  const phone = phoneIn(text)
  if (phone) return linkTo('debits', '', { phone })
  const amount = text.replace(/^GHS\s*/i, '').replaceAll(',', '')
  if (/^\d+\.\d{2}$/.test(amount)) return linkTo('debits', '', { amount })
  const provider = providers.find(({ id, name }) => [id, name.toLowerCase()].includes(lower))
  if (provider) return linkTo('provider', provider.id)
  const bank = banks.find((one) => one.identifier === upper || one.name.toLowerCase() === lower)
  if (bank) return linkTo('bank', bank.identifier)
  return partnerLink(text)
}
