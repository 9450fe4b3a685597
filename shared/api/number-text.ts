/** Normalizes a decimal number to sign, digits without outer zeros, and power of ten. */
const exactValue = (text: string): string => {
  const [, sign = '', whole = '', fraction = '', power = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? []
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  let end = digits.length
  while (digits[end - 1] === '0') end -= 1
  if (end === 0) return '0'
  return `${sign}${digits.slice(0, end)}e${Number(power) - fraction.length + digits.length - end}`
}

/** Reports whether parsing keeps the value of a JSON number: 1e22 and 0.10, but not 1e400. */
export const isKeptExactly = (text: string): boolean => {
  const parsed = Number(text)
  return Number.isFinite(parsed) && exactValue(String(parsed)) === exactValue(text)
}
