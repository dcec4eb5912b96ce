/** Copies a text; tells whether it worked. Over plain http on another machine browsers have no clipboard, but an old way. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copyOldWay(text)
  }
}

function copyOldWay(text: string): boolean {
  const area = document.createElement('textarea')
  area.value = text
  area.setAttribute('aria-hidden', 'true')
  area.style.position = 'fixed'
  area.style.opacity = '0'
  const focused = document.activeElement as HTMLElement | null
  document.body.append(area)
  area.select()
  const isCopied = document.execCommand('copy')
  area.remove()
  focused?.focus()
  return isCopied
}
