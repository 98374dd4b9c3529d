export default function ({ data, parentElement, setStateValue }) {
  if (parentElement.shownItem === data.item) return
  const first = parentElement.shownItem === undefined
  parentElement.shownItem = data.item
  if (first) setStateValue("clock", Date.now())
  else document.querySelector('[data-testid="stMain"]')?.scrollTo({ top: 0 })
}
