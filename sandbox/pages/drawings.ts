/** Draws the diagrams of docs/, which are in the language of Mermaid. */

export const schemes = ['light', 'dark'] as const
export type Scheme = (typeof schemes)[number]

/** As in pages.css: a picture has no access to the styles of its page. */
const colours = {
  light: { bg: '#fbfcfb', fg: '#1c2421', muted: '#56625d', accent: '#0f6b5c', line: '#56625d' },
  dark: { bg: '#121715', fg: '#e4e9e7', muted: '#9fada8', accent: '#6fcfbd', line: '#9fada8' },
} as const satisfies Record<Scheme, object>

/** Returns a picture that loads nothing. */
export const drawingSvg = async (source: string, scheme: Scheme): Promise<string> => {
  const { renderMermaidSVG } = await import('beautiful-mermaid')
  return renderMermaidSVG(source, { ...colours[scheme], font: 'system-ui' }).replaceAll(
    /@import url\([^)]*\);/g,
    '',
  )
}
