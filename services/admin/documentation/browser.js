/*
 * Runs in the browser before RapiDoc, in the same file. RapiDoc writes style attributes into its markup, which the
 * page's security policy refuses. Setting the same styles through the CSS object model is allowed, so that is done
 * here for each of them, and the policy needs no 'unsafe-inline'.
 */
const setAttribute = Element.prototype.setAttribute
Element.prototype.setAttribute = function (name, value) {
  if (name === 'style' && 'style' in this) this.style.cssText = value
  else setAttribute.call(this, name, value)
}

const markup = Object.getOwnPropertyDescriptor(Element.prototype, 'innerHTML')
Object.defineProperty(Element.prototype, 'innerHTML', {
  ...markup,
  set(value) {
    markup.set.call(this, String(value).replaceAll(/\sstyle\s*=\s*(?=["'])/g, ' data-inline-style='))
    const root = this instanceof HTMLTemplateElement ? this.content : this
    for (const element of root.querySelectorAll('[data-inline-style]')) {
      element.style.cssText = element.dataset.inlineStyle
      delete element.dataset.inlineStyle
      // RapiDoc's style sheet puts the licence left of the margin.
      if (element.id === 'api-info') element.style.marginLeft = 0
    }
  },
})

// The colours of the event's page, light or dark.
const COLOURS = {
  light: {
    'bg-color': '#fffdf9',
    'text-color': '#3b2a20',
    'primary-color': '#b3231d',
    'nav-bg-color': '#f6ede0',
    'nav-text-color': '#4d3a2e',
    'nav-hover-bg-color': '#eadfce',
    'nav-hover-text-color': '#3b2a20',
    'nav-accent-color': '#b3231d',
  },
  dark: {
    'bg-color': '#1b1411',
    'text-color': '#f4e9dc',
    'primary-color': '#f08a7c',
    'nav-bg-color': '#271d18',
    'nav-text-color': '#dccbbb',
    'nav-hover-bg-color': '#43332a',
    'nav-hover-text-color': '#f4e9dc',
    'nav-accent-color': '#f08a7c',
  },
}
const theme = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
const page = document.querySelector('rapi-doc')
for (const [name, value] of Object.entries({ theme, ...COLOURS[theme] })) page.setAttribute(name, value)
// RapiDoc hides its list of operations on narrow screens. There they are shown below each other, folded.
if (matchMedia('(max-width: 767px)').matches) page.setAttribute('render-style', 'view')
