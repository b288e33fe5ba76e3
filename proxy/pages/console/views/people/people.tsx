export const People = () => <p>people</p>
